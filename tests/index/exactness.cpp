// hedgerow-exactness: compares answers with Xapian called directly on one database, for thousands of queries of every
// shape. scripts/exactness runs it.
//
//  --corpus NAME    builds the reference and an index per partition count below --work (kept, and used again), and
//                   compares the whole-index search with the reference
//  --small N        the same on N small random collections, which reach more corners of the engine
//  --root URL       compares the answers of a running root over the corpus instead
//
// An Answerer is whatever gives ranked answers: the search in this process, or a running root.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "base/random.hpp"
#include "comparison.hpp"
#include "corpus/reader.hpp"
#include "index/builder.hpp"
#include "index/local_search.hpp"
#include "query_mixture.hpp"
#include "reference.hpp"
#include "root_answerer.hpp"
#include "small_collection.hpp"

namespace hedgerow::test {

namespace {

constexpr Slice corpus_slices[] = {{1, 0}, {3, 0}, {10, 0}, {30, 0}, {10, 10}, {3, 7}, {1, 29}};
constexpr Slice small_slices[] = {{1, 0}, {2, 0}, {3, 0}, {5, 0}, {10, 0}, {4, 3}};

class Answerer {
 public:
  virtual ~Answerer() = default;
  virtual std::string name() const = 0;
  virtual result<std::vector<ScoredDocument>> answer(const std::string& query, Slice slice) = 0;
};

class LocalAnswerer final : public Answerer {
 public:
  LocalAnswerer(const std::filesystem::path& directory, std::string name)
      : search_(LocalSearch::open(directory).value()), name_(std::move(name)) {}
  std::string name() const override { return name_; }
  result<std::vector<ScoredDocument>> answer(const std::string& query, Slice slice) override {
    auto found = search_.search(query, slice.k, slice.offset);
    if (!found) return found.error();
    return scored(found->hits);
  }

 private:
  LocalSearch search_;
  std::string name_;
};

class RemoteAnswerer final : public Answerer {
 public:
  RemoteAnswerer(const std::string& url, const Reference& reference) : root_(url, reference) {}
  std::string name() const override { return "the root"; }
  result<std::vector<ScoredDocument>> answer(const std::string& query, Slice slice) override {
    return root_.answer(query, slice);
  }

 private:
  RootAnswerer root_;
};

struct Tally {
  std::uint64_t queries = 0;
  std::uint64_t comparisons = 0;
  std::uint64_t differences = 0;
  std::vector<double> milliseconds;  // of each search
};

struct Arguments {
  std::string corpus;
  std::filesystem::path work;
  std::string queries_file;
  std::uint64_t queries = 5000;
  std::vector<std::uint32_t> partitions{1, 4, 16, 64};
  std::uint64_t seed = 1;
  std::uint64_t small = 0;
  std::string root;
};

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

template <std::size_t Count>
void compare(Answerer& answerer, const std::string& query, const ReferenceRanking& expected,
             const Slice (&slices)[Count], Tally& tally) {
  ++tally.queries;
  for (const Slice slice : slices) {
    const auto start = std::chrono::steady_clock::now();
    const auto answer = answerer.answer(query, slice);
    tally.milliseconds.push_back(milliseconds_since(start));
    ++tally.comparisons;
    const std::string wrong = answer ? difference(*answer, expected, slice) : to_string(answer.error());
    if (wrong.empty()) continue;
    ++tally.differences;
    std::printf("DIFFERENT %s k=%u offset=%u %s: %s\n", answerer.name().c_str(), slice.k, slice.offset, query.c_str(),
                wrong.c_str());
  }
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void print(const std::vector<std::pair<std::string, Tally>>& table) {
  std::printf("%-24s %10s %12s %12s %12s\n", "answers of", "queries", "comparisons", "different", "median ms");
  for (const auto& [name, tally] : table) {
    std::printf("%-24s %10llu %12llu %12llu %12.3f\n", name.c_str(), static_cast<unsigned long long>(tally.queries),
                static_cast<unsigned long long>(tally.comparisons),
                static_cast<unsigned long long>(tally.differences), median(tally.milliseconds));
  }
}

// The reference, with words drawn by how often they stand somewhere, and pairs of neighbours.
QueryMaterial material_of(const Reference& reference, Random& random) {
  QueryMaterial material;
  const auto last = reference.database().get_lastdocid();
  while (material.words.size() < 20'000 || material.neighbours.size() < 5'000) {
    const auto docid = static_cast<Xapian::docid>(1 + random.below(last));
    std::map<Xapian::termpos, std::string> by_position;
    const auto end = reference.database().termlist_end(docid);
    for (auto term = reference.database().termlist_begin(docid); term != end; ++term) {
      for (auto position = term.positionlist_begin(); position != term.positionlist_end(); ++position) {
        by_position.emplace(*position, *term);
      }
    }
    if (by_position.size() < 2) continue;
    auto at = std::next(by_position.begin(), static_cast<std::ptrdiff_t>(random.below(by_position.size() - 1)));
    material.words.push_back(at->second);
    const auto next = std::next(at);
    if (next->first == at->first + 1) material.neighbours.emplace_back(at->second, next->second);
  }
  return material;
}

// Each was answered wrongly once over the Debian catalogue, by Xapian 1.4.22 itself or by an earlier cure.
constexpr const char* once_wrong[] = {
    "one browser videos",
    "qml connections nm",
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
std::vector<std::string> draw_queries(const Arguments& arguments, const Reference& reference) {
  Random random(arguments.seed);
  const QueryMaterial collection = material_of(reference, random);
  std::vector<std::string> queries(std::begin(once_wrong), std::end(once_wrong));
  if (!arguments.queries_file.empty()) {
    std::ifstream file(arguments.queries_file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) {
      if (!line.empty()) lines.push_back(line);
    }
    if (lines.empty()) throw std::runtime_error(arguments.queries_file + ": no queries");
    QueryMaterial words;
    for (const auto& line : lines) {
      std::istringstream stream(line);
      std::vector<std::string> of_line;
      for (std::string word; stream >> word;) of_line.push_back(word);
      for (std::size_t i = 0; i + 1 < of_line.size(); ++i) words.neighbours.emplace_back(of_line[i], of_line[i + 1]);
      words.words.insert(words.words.end(), of_line.begin(), of_line.end());
    }
    if (words.neighbours.empty()) words.neighbours = collection.neighbours;
    QueryMixture mixture(words, random.next());
    for (std::uint64_t i = 0; i < arguments.queries / 2; ++i) {
      queries.push_back(i < lines.size() && i % 2 == 0 ? lines[i] : mixture.next());
    }
  }
  QueryMixture mixture(collection, random.next());
  while (queries.size() < arguments.queries) queries.push_back(mixture.next());
  return queries;
}

std::uint64_t compare_corpus(const Arguments& arguments) {
  const auto open = [&] { return open_corpus(arguments.corpus, {}).value(); };
  const auto reference_path = arguments.work / "reference";
  if (!std::filesystem::exists(reference_path)) {
    std::fprintf(stderr, "building the reference\n");
    std::filesystem::create_directories(arguments.work);
    Reference::build(*open(), reference_path);
  }
  const Reference reference(reference_path);
  std::vector<std::pair<std::unique_ptr<Answerer>, Tally>> answerers;
  if (!arguments.root.empty()) {
    answerers.emplace_back(std::make_unique<RemoteAnswerer>(arguments.root, reference), Tally{});
  }
  for (const std::uint32_t partitions : arguments.root.empty() ? arguments.partitions : std::vector<std::uint32_t>{}) {
    const auto path = arguments.work / ("partitions-" + std::to_string(partitions));
    if (!std::filesystem::exists(path / "manifest.json")) {
      std::fprintf(stderr, "building %u partitions\n", partitions);
      BuildSettings settings;
      settings.directory = path;
      settings.collection = arguments.corpus;
      settings.partitions = partitions;
      build_index(*open(), settings).value();
    }
    answerers.emplace_back(std::make_unique<LocalAnswerer>(path, std::to_string(partitions) + " partitions"), Tally{});
  }

  Tally engine;
  std::uint64_t done = 0;
  for (const std::string& query : draw_queries(arguments, reference)) {
    const Xapian::Query parsed = reference.parse(query);
    if (parsed.empty()) continue;
    const ReferenceRanking expected = reference.by_algebra(parsed);
    // How often the engine's own unpruned answer is the same, for the record.
    ReferenceRanking unpruned = reference.by_engine(parsed);
    ++engine.queries;
    for (const Slice slice : corpus_slices) {
      std::vector<ScoredDocument> hits;
      for (std::size_t i = slice.offset; i < std::min<std::size_t>(slice.offset + slice.k, unpruned.size()); ++i) {
        hits.push_back({DocumentNumber{unpruned[i].document}, unpruned[i].score});
      }
      ++engine.comparisons;
      if (!difference(hits, expected, slice).empty()) ++engine.differences;
    }
    for (auto& [answerer, tally] : answerers) compare(*answerer, query, expected, corpus_slices, tally);
    if (++done % 500 == 0) std::fprintf(stderr, "%llu queries\n", static_cast<unsigned long long>(done));
  }

  std::uint64_t differences = 0;
  std::vector<std::pair<std::string, Tally>> table;
  for (const auto& [answerer, tally] : answerers) {
    table.emplace_back(answerer->name(), tally);
    differences += tally.differences;
  }
  table.emplace_back("Xapian itself, unpruned", engine);
  print(table);
  return differences;
}

std::uint64_t compare_small(const Arguments& arguments) {
  Random random(arguments.seed);
  std::vector<std::pair<std::string, Tally>> table{{"1 partition", {}}, {"3 partitions", {}}};
  std::uint64_t differences = 0;
  for (std::uint64_t i = 0; i < arguments.small; ++i) {
    const auto size = static_cast<std::uint32_t>(30 + random.below(1500));
    const std::uint64_t vocabulary = 5 + random.below(200);
    const auto documents = small_collection(size, random.next(), vocabulary);
    const auto path = arguments.work / "small";
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    VectorReader reader(documents);
    Reference::build(reader, path / "reference");
    const Reference reference(path / "reference");
    build_small(documents, path / "1", 1);
    build_small(documents, path / "3", 3);
    LocalAnswerer one(path / "1", "1 partition, collection " + std::to_string(i));
    LocalAnswerer three(path / "3", "3 partitions, collection " + std::to_string(i));
    QueryMixture mixture(test::material_of(documents, random.next()), random.next());
    for (std::uint64_t q = 0; q < arguments.queries; ++q) {
      const std::string query = mixture.next();
      const ReferenceRanking expected = reference.by_algebra(reference.parse(query));
      compare(one, query, expected, small_slices, table[0].second);
      compare(three, query, expected, small_slices, table[1].second);
    }
    if ((i + 1) % 20 == 0) {
      std::fprintf(stderr, "%llu collections, %llu different\n", static_cast<unsigned long long>(i + 1),
                   static_cast<unsigned long long>(table[0].second.differences + table[1].second.differences));
    }
  }
  print(table);
  for (const auto& row : table) differences += row.second.differences;
  return differences;
}

}  // namespace

}  // namespace hedgerow::test

int main(int argc, char** argv) {
  hedgerow::test::Arguments arguments;
  CLI::App app{"Compares answers with Xapian called directly on one database."};
  app.add_option("--corpus", arguments.corpus, "A corpus name, as for hedgerow-index build");
  app.add_option("--work", arguments.work, "Folder for the reference and the indexes")->required();
  app.add_option("--queries-file", arguments.queries_file, "Queries, one a line: half of those asked");
  app.add_option("--queries", arguments.queries, "How many (with --small: per collection)")->capture_default_str();
  app.add_option("--partitions", arguments.partitions, "Partition counts")->delimiter(',')->capture_default_str();
  app.add_option("--seed", arguments.seed, "Seed of the queries")->capture_default_str();
  app.add_option("--small", arguments.small, "Compare on so many small random collections instead");
  app.add_option("--root", arguments.root, "Compare a running root's answers over the corpus instead");
  CLI11_PARSE(app, argc, argv);
  try {
    std::printf("seed %llu\n", static_cast<unsigned long long>(arguments.seed));
    const auto differences = arguments.small > 0 ? hedgerow::test::compare_small(arguments)
                                                 : hedgerow::test::compare_corpus(arguments);
    return differences == 0 ? 0 : 1;
  } catch (const Xapian::Error& error) {
    std::fprintf(stderr, "hedgerow-exactness: %s\n", error.get_description().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hedgerow-exactness: %s\n", error.what());
  }
  return 1;
}
