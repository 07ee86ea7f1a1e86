// hedgerow-exactness: compares answers with Xapian called directly on one database, for thousands of queries of every
// shape. scripts/exactness runs it.
//
//  --corpus NAME    builds the reference, an index per partition count and a synonyms file below --work, computes what
//                   the reference says to each query (and keeps it there), and compares the whole-index search with it
//  --root URL       compares the answers of a running root over one of these indexes, started with that synonyms file,
//                   with what was kept
//  --small N        compares on N small random collections, which reach more corners of the engine
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>

#include "base/random.hpp"
#include "collection_material.hpp"
#include "comparison.hpp"
#include "corpus/reader.hpp"
#include "enriched_reader.hpp"
#include "expected_answers.hpp"
#include "index/builder.hpp"
#include "index/local_search.hpp"
#include "index/synonyms.hpp"
#include "query_mixture.hpp"
#include "reference.hpp"
#include "root_answerer.hpp"
#include "small_collection.hpp"
#include "synonym_sample.hpp"

namespace hedgerow::test {

namespace {

constexpr Slice corpus_slices[] = {{1, 0}, {3, 0}, {10, 0}, {30, 0}, {10, 10}, {3, 7}, {1, 29}};
constexpr Slice small_slices[] = {{1, 0}, {2, 0}, {3, 0}, {5, 0}, {10, 0}, {4, 3}};
constexpr std::size_t deepest_compared = 30;

struct Arguments {
  std::string corpus;
  std::filesystem::path work;
  std::string queries_file;
  std::uint64_t queries = 5000;
  std::vector<std::uint32_t> partitions{1, 4, 16, 64};
  std::uint64_t like = 200;
  std::uint64_t seed = 1;
  std::uint64_t small = 0;
  std::string root;
  unsigned connections = 8;
  bool reuse = false;
  bool engine = false;
};

// Comparisons of one answerer, from any thread.
class Tally {
 public:
  explicit Tally(std::string name) : name_(std::move(name)) {}

  void add(const ExpectedAnswer& asked, Slice slice, const result<RankedAnswer>& answer, double milliseconds,
           bool told = true) {
    const std::string wrong = answer ? difference(*answer, asked.expected, slice) : to_string(answer.error());
    milliseconds_.push_back(static_cast<float>(milliseconds));
    if (wrong.empty()) return;
    ++differences_;
    if (!told) return;
    static std::mutex printing;
    const std::lock_guard lock(printing);
    std::printf("DIFFERENT %s k=%u offset=%u %s: %s\n", name_.c_str(), slice.k, slice.offset,
                (asked.like.empty() ? asked.query : "like " + asked.like).c_str(), wrong.c_str());
  }

  std::uint64_t differences() const { return differences_; }

  void print(std::uint64_t queries) const {
    std::printf("%-24s %10llu %12zu %12llu %12.3f\n", name_.c_str(), static_cast<unsigned long long>(queries),
                milliseconds_.size(), static_cast<unsigned long long>(differences_), median());
  }

 private:
  double median() const {
    if (milliseconds_.empty()) return 0;
    std::vector<float> values = milliseconds_;
    const auto middle = values.begin() + std::ssize(values) / 2;
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  }

  std::string name_;
  std::vector<float> milliseconds_;  // of each search
  std::uint64_t differences_ = 0;
};

void print_head() {
  std::printf("%-24s %10s %12s %12s %12s\n", "answers of", "queries", "comparisons", "different", "median ms");
}

class Watch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <std::size_t Count>
void compare(LocalSearch& search, const ExpectedAnswer& asked, const Slice (&slices)[Count], Tally& tally) {
  for (const Slice slice : slices) {
    const Watch watch;
    const auto found = asked.like.empty() ? search.search(asked.query, slice.k, slice.offset)
                                          : search.search_similar(asked.like, slice.k, slice.offset);
    const double milliseconds = watch.milliseconds();
    tally.add(asked, slice, found ? ranked(*found) : result<RankedAnswer>(found.error()), milliseconds);
  }
}

// Each was answered wrongly once over the Debian catalogue, by Xapian 1.4.22 itself or by an earlier cure.
constexpr const char* once_wrong[] = {
    "one browser videos",
    "qml connections nm",
    "title:one browser videos",
    "+dummy transitional shared impass -python",
    "+role bindgen bioc library library -perl",
    "+for nodejs java instance",
    "\"lib libs\" library devel",
    "+tag \"libghc bytestring\" \"200 libc6\" libs doc",
    "(+devel \"s1 meta\" mono) OR profiler OR perl",
    "to OR (ane88 NOT hnsh8) OR ocaml",
    "(\"light smtp\" AND docker) OR implemented any client",
    "\"python3 trio\" smtp more any python3",
    "cran bioc bioc -cmdfun"};

// Half of the queries: lines of the file, and every shape over its words; the other half over the collection's words.
std::vector<std::string> draw_queries(const Arguments& arguments, const QueryMaterial& collection, Random& random) {
  std::vector<std::string> queries(std::begin(once_wrong), std::end(once_wrong));
  if (!arguments.queries_file.empty()) {
    std::ifstream file(arguments.queries_file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    if (lines.empty()) throw std::runtime_error(arguments.queries_file + ": no queries");
    QueryMaterial material = collection;
    material.words.clear();
    material.neighbours.clear();
    for (const auto& line : lines) {
      std::istringstream stream(line);
      std::vector<std::string> of_line;
      for (std::string word; stream >> word;) of_line.push_back(word);
      for (std::size_t i = 0; i + 1 < of_line.size(); ++i) material.neighbours.emplace_back(of_line[i], of_line[i + 1]);
      material.words.insert(material.words.end(), of_line.begin(), of_line.end());
    }
    if (material.neighbours.empty()) material.neighbours = collection.neighbours;
    QueryMixture mixture(material, random.next());
    for (std::uint64_t i = 0; i < arguments.queries / 2; ++i) {
      queries.push_back(i < lines.size() && i % 2 == 0 ? lines[i] : mixture.next());
    }
  }
  QueryMixture mixture(collection, random.next());
  while (queries.size() < arguments.queries) queries.push_back(mixture.next());
  return queries;
}

std::filesystem::path index_path(const Arguments& arguments, std::uint32_t partitions) {
  return arguments.work / ("partitions-" + std::to_string(partitions));
}

// What all indexes of the run say of their documents' scoring. Throws where they disagree.
ReferenceSettings build_indexes(const Arguments& arguments) {
  std::optional<Manifest> first;
  for (const std::uint32_t partitions : arguments.partitions) {
    const auto path = index_path(arguments, partitions);
    auto manifest = read_manifest(path);
    if (!arguments.reuse || !manifest) {
      EnrichedReader reader(open_corpus(arguments.corpus, {}).value());
      std::fprintf(stderr, "building %u partitions\n", partitions);
      std::filesystem::remove_all(path);
      BuildSettings settings;
      settings.directory = path;
      settings.collection = arguments.corpus;
      settings.partitions = partitions;
      manifest = build_index(reader, settings).value();
    }
    if (!first) first = *manifest;
    if (manifest->title_weight != first->title_weight || manifest->bm25.k1 != first->bm25.k1 ||
        manifest->bm25.b != first->bm25.b) {
      throw std::runtime_error(path.string() + ": built with other settings than the others; run without --reuse");
    }
  }
  return settings_like(first.value());
}

ExpectedAnswer with_ids(ExpectedAnswer answer, const Reference& reference) {
  for (const auto& hit : answer.expected.top) answer.ids.push_back(reference.id_of(hit.document));
  return answer;
}

// What the reference says to every query.
std::vector<ExpectedAnswer> compute_expected(const std::vector<std::string>& queries, const Arguments& arguments,
                                             const Reference& reference, Tally& engine) {
  std::vector<ExpectedAnswer> answers;
  for (const std::string& query : queries) {
    ExpectedAnswer answer;
    answer.query = query;
    try {
      const Meaning meaning = reference.parse(query);
      answer.expected = expectation_of(reference.by_algebra(meaning), deepest_compared);
      if (arguments.engine) {
        // How often the engine's own unpruned answer is the same, for the record.
        const ReferenceRanking unpruned = reference.by_engine(meaning);
        for (const Slice slice : corpus_slices) {
          RankedAnswer hits;
          for (std::size_t i = slice.offset; i < std::min<std::size_t>(slice.offset + slice.k, unpruned.size()); ++i) {
            hits.hits.push_back({DocumentNumber{unpruned[i].document}, unpruned[i].score});
          }
          engine.add(answer, slice, hits, 0, false);
        }
      }
    } catch (const std::exception& error) {
      throw std::runtime_error("the reference cannot read '" + query + "': " + error.what());
    } catch (const Xapian::Error& error) {
      throw std::runtime_error("the reference cannot read '" + query + "': " + error.get_description());
    }
    answers.push_back(with_ids(std::move(answer), reference));
    if (answers.size() % 500 == 0) std::fprintf(stderr, "%zu queries\n", answers.size());
  }
  return answers;
}

// What it says is like some documents.
void add_similar(std::uint64_t documents, const Reference& reference, Random& random,
                 std::vector<ExpectedAnswer>& answers) {
  const auto last = reference.database().get_lastdocid();
  for (std::uint64_t i = 0; i < documents; ++i) {
    const auto docid = static_cast<Xapian::docid>(1 + random.below(last));
    ExpectedAnswer answer;
    answer.like = reference.id_of(docid);
    answer.expected = expectation_of(reference.by_algebra(reference.similar_to(docid)), deepest_compared);
    answers.push_back(with_ids(std::move(answer), reference));
  }
}

// The file that a root over these indexes must be started with (--synonyms).
std::filesystem::path synonyms_path(const Arguments& arguments) { return arguments.work / "synonyms.txt"; }
std::filesystem::path expected_path(const Arguments& arguments) { return arguments.work / "expected.jsonl"; }

std::uint64_t compare_corpus(const Arguments& arguments) {
  const Watch watch;
  const auto tell_time = [&](const char* what) {
    std::fprintf(stderr, "%s: %.0f s\n", what, watch.milliseconds() / 1e3);
  };
  std::filesystem::create_directories(arguments.work);
  ReferenceSettings settings = build_indexes(arguments);
  tell_time("indexes are built");
  const auto reference_path = arguments.work / "reference";
  if (!arguments.reuse || !std::filesystem::exists(reference_path)) {
    std::fprintf(stderr, "building the reference\n");
    EnrichedReader reader(open_corpus(arguments.corpus, {}).value());
    Reference::build(reader, reference_path, settings);
  }
  tell_time("the reference is built");
  Tally engine("Xapian itself, unpruned");
  std::vector<ExpectedAnswer> answers;
  {
    Random random(arguments.seed);
    QueryMaterial material = material_of(Reference(reference_path, settings), random);
    const SynonymSample sample = sample_synonyms(material.words, 200, settings.language.stemmer);
    std::ofstream(synonyms_path(arguments)) << sample.text;
    settings.language.synonyms = sample.meaning;
    material.synonym_words = sample.words;
    const auto queries = draw_queries(arguments, material, random);
    tell_time("the queries are drawn");
    const Reference reference(reference_path, settings);
    answers = compute_expected(queries, arguments, reference, engine);
    add_similar(arguments.like, reference, random, answers);
  }
  save(answers, expected_path(arguments));
  tell_time("the reference has answered");
  const Synonyms synonyms = Synonyms::load(synonyms_path(arguments), settings.language.stemmer).value();
  PlanSettings plan;
  plan.synonyms = &synonyms;

  std::vector<Tally> tallies;
  for (const std::uint32_t partitions : arguments.partitions) {
    tallies.emplace_back(std::to_string(partitions) + (partitions == 1 ? " partition" : " partitions"));
  }
  std::vector<std::exception_ptr> failures(tallies.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < tallies.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          LocalSearch search = LocalSearch::open(index_path(arguments, arguments.partitions[i]), plan).value();
          for (const auto& answer : answers) compare(search, answer, corpus_slices, tallies[i]);
        } catch (...) {
          failures[i] = std::current_exception();
        }
      });
    }
  }
  for (const auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  tell_time("the indexes have answered");

  std::uint64_t differences = 0;
  print_head();
  for (const auto& tally : tallies) {
    tally.print(answers.size());
    differences += tally.differences();
  }
  if (arguments.engine) engine.print(answers.size());
  return differences;
}

std::uint64_t compare_root(const Arguments& arguments) {
  const auto answers = load_expected_answers(expected_path(arguments));
  std::vector<RootQuestion> questions;
  for (const auto& answer : answers) {
    for (const Slice slice : corpus_slices) questions.push_back({&answer, slice});
  }
  Tally tally("the root");
  unsigned asked_again = 0;
  const Watch watch;
  ask_root(arguments.root, questions, arguments.connections, [&](const RootQuestion& question, const RootReply& reply) {
    asked_again += reply.asked_again;
    tally.add(*question.asked, question.slice, reply.answer, reply.milliseconds);
  });
  print_head();
  tally.print(answers.size());
  if (asked_again > 0) std::printf("asked again, since an answer was not complete: %u times\n", asked_again);
  std::fprintf(stderr, "the root has answered: %.0f s\n", watch.milliseconds() / 1e3);
  return tally.differences();
}

std::uint64_t compare_small(const Arguments& arguments) {
  constexpr std::uint32_t partition_counts[] = {1, 3, 16};
  Random random(arguments.seed);
  std::vector<Tally> tallies;
  for (const auto partitions : partition_counts) {
    tallies.emplace_back(std::to_string(partitions) + (partitions == 1 ? " partition" : " partitions"));
  }
  for (std::uint64_t i = 0; i < arguments.small; ++i) {
    // Now and then fewer documents than partitions.
    const auto size = static_cast<std::uint32_t>(i % 10 == 9 ? 5 + random.below(20) : 30 + random.below(1500));
    const std::uint64_t vocabulary = 5 + random.below(200);
    const auto documents = small_collection(size, random.next(), vocabulary);
    const auto path = arguments.work / "small";
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    std::vector<LocalSearch> searches;
    std::optional<ReferenceSettings> settings;
    for (const auto partitions : partition_counts) {
      const auto directory = path / std::to_string(partitions);
      settings = settings_like(build_small(documents, directory, partitions));
      searches.push_back(LocalSearch::open(directory).value());
    }
    VectorReader reader(documents);
    Reference::build(reader, path / "reference", *settings);
    const Reference reference(path / "reference", *settings);
    QueryMixture mixture(test::material_of(documents, random.next()), random.next());
    const std::uint64_t before = tallies[0].differences() + tallies[1].differences() + tallies[2].differences();
    for (std::uint64_t q = 0; q < arguments.queries; ++q) {
      const std::string query = mixture.next();
      ExpectedAnswer asked;
      asked.query = query;
      asked.expected = expectation_of(reference.by_algebra(reference.parse(query)), deepest_compared);
      for (std::size_t s = 0; s < searches.size(); ++s) compare(searches[s], asked, small_slices, tallies[s]);
    }
    if (tallies[0].differences() + tallies[1].differences() + tallies[2].differences() > before) {
      std::printf("so far collection %llu of seed %llu\n", static_cast<unsigned long long>(i),
                  static_cast<unsigned long long>(arguments.seed));
    }
    if ((i + 1) % 20 == 0) std::fprintf(stderr, "%llu collections\n", static_cast<unsigned long long>(i + 1));
  }
  std::uint64_t differences = 0;
  print_head();
  for (const auto& tally : tallies) {
    tally.print(arguments.small * arguments.queries);
    differences += tally.differences();
  }
  return differences;
}

}  // namespace

}  // namespace hedgerow::test

int main(int argc, char** argv) {
  using namespace hedgerow::test;
  Arguments arguments;
  CLI::App app{"Compares answers with Xapian called directly on one database."};
  app.add_option("--corpus", arguments.corpus, "A corpus name, as for hedgerow-index build");
  app.add_option("--work", arguments.work, "Folder for the reference and the indexes")->required();
  app.add_option("--queries-file", arguments.queries_file, "Queries, one a line: half of those asked");
  app.add_option("--queries", arguments.queries, "How many (with --small: per collection)")->capture_default_str();
  app.add_option("--like", arguments.like, "For how many documents to ask what is like them")->capture_default_str();
  app.add_option("--partitions", arguments.partitions, "Partition counts")->delimiter(',')->capture_default_str();
  app.add_option("--seed", arguments.seed, "Seed of the queries")->capture_default_str();
  app.add_option("--small", arguments.small, "Compare on so many small random collections instead");
  app.add_option("--root", arguments.root, "Compare a running root's answers instead, over what an earlier run kept");
  app.add_option("--connections", arguments.connections, "To the root")->capture_default_str();
  app.add_flag("--reuse", arguments.reuse, "Take indexes and reference of an earlier run, where they are there");
  app.add_flag("--engine", arguments.engine, "Count also how often Xapian's own unpruned answer is the same");
  CLI11_PARSE(app, argc, argv);
  if (arguments.corpus.empty() && arguments.small == 0 && arguments.root.empty()) {
    std::fprintf(stderr, "hedgerow-exactness: one of --corpus, --small and --root is needed\n");
    return 2;
  }
  try {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    std::printf("seed %llu\n", static_cast<unsigned long long>(arguments.seed));
    const auto differences = arguments.small > 0        ? compare_small(arguments)
                             : !arguments.root.empty() ? compare_root(arguments)
                                                       : compare_corpus(arguments);
    return differences == 0 ? 0 : 1;
  } catch (const Xapian::Error& error) {
    std::fprintf(stderr, "hedgerow-exactness: %s\n", error.get_description().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hedgerow-exactness: %s\n", error.what());
  }
  return 1;
}
