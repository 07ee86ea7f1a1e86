#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xapian.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "index/builder.hpp"
#include "index/fields.hpp"
#include "index/generation.hpp"
#include "index/global_weight.hpp"
#include "index/guard.hpp"
#include "index/local_search.hpp"
#include "index/lookup.hpp"
#include "index/verify.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

BuildSettings settings_for(const std::filesystem::path& directory, std::uint32_t partitions = 3) {
  BuildSettings settings;
  settings.directory = directory;
  settings.collection = "small";
  settings.partitions = partitions;
  settings.threads = 2;
  return settings;
}

std::set<std::string> entries_of(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) names.insert(entry.path().filename());
  return names;
}

void check_whole(const std::filesystem::path& directory) {
  const auto report = verify_index(directory);
  REQUIRE(report.has_value());
  for (const auto& problem : report->problems) FAIL_CHECK(problem);
}

}  // namespace

TEST_CASE("Every document goes to the partition of its id's hash, and the counts add up") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(500, 111);
  const Manifest manifest = build_small(documents, directory.path(), 7);
  CHECK(manifest.documents == 500);
  CHECK(manifest.partitions.size() == 7);
  std::vector<PartitionSearcher> searchers;
  std::uint64_t sum = 0;
  for (std::uint32_t p = 0; p < 7; ++p) {
    searchers.push_back(PartitionSearcher::open(directory.path(), manifest, PartitionId{p}).value());
    sum += searchers.back().documents();
  }
  CHECK(sum == 500);
  for (std::uint32_t i = 0; i < documents.size(); ++i) {
    const PartitionId partition = partition_of(documents[i].id, 7);
    const auto fetched = searchers[partition.value].fetch({DocumentNumber{i + 1}});
    REQUIRE(fetched.has_value());
    CHECK(fetched->front().id == documents[i].id);
  }
  check_whole(directory.path());
}

TEST_CASE("With little memory the build writes more often, and the answers are the same") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(4000, 113);
  VectorReader reader(documents);
  BuildSettings settings = settings_for(directory.path() / "little", 40);
  settings.memory_bytes = BuildSettings::smallest_memory;
  REQUIRE(build_index(reader, settings).has_value());
  check_whole(settings.directory);
  build_small(documents, directory.path() / "much", 40);
  auto little = LocalSearch::open(settings.directory).value();
  auto much = LocalSearch::open(directory.path() / "much").value();
  QueryMixture mixture(material_of(documents, 114), 115);
  for (int i = 0; i < 52; ++i) {
    const std::string query = mixture.next();
    const auto a = little.search(query, 20).value();
    const auto b = much.search(query, 20).value();
    REQUIRE(a.hits.size() == b.hits.size());
    for (std::size_t h = 0; h < a.hits.size(); ++h) {
      CHECK(a.hits[h].scored.document == b.hits[h].scored.document);
      CHECK(a.hits[h].scored.score == b.hits[h].scored.score);
    }
    CHECK(a.matches == b.matches);
  }
}

TEST_CASE("Read errors are skipped or stop the build, as asked, a fatal one always stops it") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(100, 121);
  const ReadError bad{.file = "x.jsonl", .line = 12, .what = "duplicate id", .fatal = false};

  VectorReader skipping(documents);
  skipping.fail_before(50, bad);
  std::uint64_t told = 0;
  BuildObserver observer;
  observer.read_error = [&](const ReadError& error) { told += error.line; };
  const auto skipped = build_index(skipping, settings_for(directory.path()), observer);
  REQUIRE(skipped.has_value());
  CHECK(skipped->documents == 100);
  CHECK(told == 12);

  BuildSettings strict = settings_for(directory.path());
  strict.on_read_error = OnReadError::stop;
  VectorReader stopping(documents);
  stopping.fail_before(50, bad);
  const auto stopped = build_index(stopping, strict);
  REQUIRE(!stopped);
  CHECK(stopped.error().code == Errc::input);
  CHECK(stopped.error().context.find("x.jsonl:12") != std::string::npos);

  VectorReader broken(documents);
  broken.fail_before(99, {.file = "x.gz", .line = 0, .what = "truncated", .fatal = true});
  const auto failed = build_index(broken, settings_for(directory.path()));
  REQUIRE(!failed);
  CHECK(failed.error().code == Errc::input);

  VectorReader empty({});
  CHECK(build_index(empty, settings_for(directory.path())).error().code == Errc::input);

  // Nothing of the failed ones is left, and the first build is the index.
  CHECK(entries_of(directory.path()) == std::set<std::string>{"build.lock", "generation-1", "manifest.json"});
  CHECK(entries_of(directory.path() / "generation-1") ==
        std::set<std::string>{"partition-0000", "partition-0001", "partition-0002", "spelling", "statistics"});
  CHECK(read_manifest(directory.path())->generation == Generation{1});
  check_whole(directory.path());
}

TEST_CASE("Settings that make no sense are refused") {
  const TemporaryDirectory directory;
  const auto refused = [&](auto&& change) {
    VectorReader reader(small_collection(5, 123));
    BuildSettings settings = settings_for(directory.path());
    change(settings);
    const auto built = build_index(reader, settings);
    return !built && built.error().code == Errc::invalid_argument;
  };
  CHECK(refused([](BuildSettings& s) { s.partitions = 0; }));
  CHECK(refused([](BuildSettings& s) { s.partitions = BuildSettings::most_partitions + 1; }));
  CHECK(refused([](BuildSettings& s) { s.stemmer = "klingon"; }));
  CHECK(refused([](BuildSettings& s) { s.memory_bytes = 1 << 20; }));
  CHECK(refused([](BuildSettings& s) { s.title_weight = 0; }));
  CHECK(refused([](BuildSettings& s) { s.title_weight = Manifest::most_title_weight + 1; }));
  CHECK(refused([](BuildSettings& s) { s.bm25.k1 = -0.1; }));
  CHECK(refused([](BuildSettings& s) { s.bm25.k1 = std::nan(""); }));
  CHECK(refused([](BuildSettings& s) { s.bm25.k1 = HUGE_VAL; }));
  CHECK(refused([](BuildSettings& s) { s.bm25.b = 1.5; }));
  CHECK(refused([](BuildSettings& s) { s.bm25.b = std::nan(""); }));
  CHECK(!refused([](BuildSettings& s) { s.stemmer = "none"; }));
}

TEST_CASE("Title weight and scoring go from the settings into the manifest, and the weight into the documents") {
  const TemporaryDirectory directory;
  Document document;
  document.id = "one";
  document.title = "green";
  document.text = "green tea";
  VectorReader reader({document});
  BuildSettings settings = settings_for(directory.path(), 1);
  settings.title_weight = 7;
  settings.bm25 = {.k1 = 1.2, .k3 = 8, .b = 0.75, .min_normalised_length = 0.4};
  REQUIRE(build_index(reader, settings).has_value());
  const Manifest manifest = read_manifest(directory.path()).value();
  CHECK(manifest.title_weight == 7);
  CHECK(manifest.bm25.k1 == 1.2);
  CHECK(manifest.bm25.k3 == 8);
  CHECK(manifest.bm25.b == 0.75);
  CHECK(manifest.bm25.min_normalised_length == 0.4);
  const Xapian::Database partition((directory.path() / manifest.partitions[0].file).string());
  CHECK(partition.get_collection_freq("green") == 8);
  // Words and stems: 8 of green, 1 of tea; in the title's field 1. And two names, the id and the title.
  CHECK(manifest.total_length == 2 * (8 + 1 + 1) + 2);
}

TEST_CASE("At the edges of BM25's parameters scores are numbers, and the best are the same however few are asked for") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(2000, 197);
  const Bm25Parameters edges[] = {{.k1 = 0, .k3 = 0, .b = 0, .min_normalised_length = 0},
                                  {.k1 = 0, .k3 = 1000, .b = 1, .min_normalised_length = 1},
                                  {.k1 = 1000, .k3 = 1, .b = 1, .min_normalised_length = 0}};
  for (const Bm25Parameters& bm25 : edges) {
    CAPTURE(bm25.k1);
    CAPTURE(bm25.b);
    VectorReader reader(documents);
    BuildSettings settings = settings_for(directory.path(), 2);
    settings.bm25 = bm25;
    REQUIRE(build_index(reader, settings).has_value());
    auto index = LocalSearch::open(directory.path()).value();
    // The guards, which hold every term no time, score nothing: not 0/0.
    const Xapian::Database partition((directory.path() / index.manifest().partitions[0].file).string());
    Xapian::Enquire enquire(partition);
    enquire.set_weighting_scheme(GlobalWeight(bm25, index.manifest().average_length(), nullptr));
    enquire.set_query(Xapian::Query(*partition.allterms_begin("k")));
    const Xapian::MSet everything = enquire.get_mset(0, partition.get_doccount());
    REQUIRE(everything.size() > 2);
    for (auto match = everything.begin(); match != everything.end(); ++match) {
      const bool is_guard = *match == guard::front || *match == guard::back(documents.size());
      CHECK((is_guard ? match.get_weight() == 0 : match.get_weight() > 0));
    }
    QueryMixture mixture(material_of(documents, 198), 199);
    for (int i = 0; i < 40; ++i) {
      const std::string query = mixture.next();
      CAPTURE(query);
      const auto few = index.search(query, 5);
      if (!few) continue;
      const auto all = index.search(query, 2000).value();
      REQUIRE(few->hits.size() == std::min<std::size_t>(5, all.hits.size()));
      for (std::size_t h = 0; h < few->hits.size(); ++h) {
        CHECK(std::isfinite(few->hits[h].scored.score));
        CHECK(few->hits[h].scored.document == all.hits[h].scored.document);
      }
    }
  }
}

TEST_CASE("Facets are in the manifest, by name, with their documents, and a kind where every first value is of it") {
  const TemporaryDirectory directory;
  auto documents = small_collection(90, 181);
  for (std::size_t i = 0; i < documents.size(); ++i) {
    auto& facets = documents[i].facets;
    facets.clear();
    facets["section"] = {i % 2 == 0 ? "Editors" : "1984", "2000"};
    facets["year"] = {std::to_string(1990 + i), "unknown"};
    if (i % 3 == 0) facets["date"] = {i % 2 == 0 ? "2024-02" : "2024-02-28T12:00:00Z"};
    facets[i < 89 ? "almost" : "last"] = {"5"};
    facets["when"] = {i == 0 ? "2024-01" : "2024"};  // a date and a number are nothing in common
  }
  const Manifest manifest = build_small(documents, directory.path(), 4);
  struct Row {
    const char* name;
    fields::ValueKind kind;
    std::uint32_t documents;
  };
  const Row rows[] = {{"almost", fields::ValueKind::number, 89},
                      {"date", fields::ValueKind::date, 30},
                      {"last", fields::ValueKind::number, 1},
                      {"section", fields::ValueKind::category, 90},
                      {"when", fields::ValueKind::category, 90},
                      {"year", fields::ValueKind::number, 90}};
  REQUIRE(manifest.facets.size() == std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    CAPTURE(i);
    CHECK(manifest.facets[i].name == rows[i].name);
    CHECK(manifest.facets[i].kind == rows[i].kind);
    CHECK(manifest.facets[i].documents == rows[i].documents);
  }
  check_whole(directory.path());
}

TEST_CASE("Two facets that fall upon one slot, and too many facets, are a build error that names them") {
  // A pair of names with equal slots, found by trying: about 40,000 names have one.
  std::map<std::uint32_t, std::string> slots;
  std::string one;
  std::string other;
  for (int i = 0; one.empty(); ++i) {
    REQUIRE(i < 1'000'000);
    other = "f" + std::to_string(i);
    const auto [entry, is_new] = slots.emplace(fields::values_slot(other), other);
    if (!is_new) one = entry->second;
  }
  const TemporaryDirectory directory;
  auto documents = small_collection(10, 191);
  documents[2].facets[one] = {"x"};
  documents[7].facets[other] = {"y"};
  VectorReader colliding(documents);
  const auto built = build_index(colliding, settings_for(directory.path()));
  REQUIRE(!built);
  CHECK(built.error().code == Errc::input);
  CHECK(built.error().context.find("'" + one + "'") != std::string::npos);
  CHECK(built.error().context.find("'" + other + "'") != std::string::npos);

  documents = small_collection(300, 192);
  for (std::size_t i = 0; i < documents.size(); ++i) documents[i].facets = {{"name" + std::to_string(i), {"x"}}};
  VectorReader many(documents);
  const auto refused = build_index(many, settings_for(directory.path()));
  REQUIRE(!refused);
  CHECK(refused.error().code == Errc::input);
  CHECK(refused.error().context.find("256") != std::string::npos);
  CHECK(!std::filesystem::exists(directory.path() / "manifest.json"));

  documents.resize(256);
  VectorReader just_enough(documents);
  CHECK(build_index(just_enough, settings_for(directory.path())).has_value());
  check_whole(directory.path());
}

TEST_CASE("The guards hold every term, and the statistics all but ids and names, each with its document frequency") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(60, 193);
  const Manifest manifest = build_small(documents, directory.path(), 2);
  const Xapian::Database statistics((directory.path() / manifest.statistics_file).string());
  std::map<std::string, std::uint64_t> frequencies;
  for (const auto& info : manifest.partitions) {
    const Xapian::Database partition((directory.path() / info.file).string());
    std::uint64_t ids = 0;
    for (auto term = partition.allterms_begin(); term != partition.allterms_end(); ++term) {
      std::vector<Xapian::docid> holders(partition.postlist_begin(*term), partition.postlist_end(*term));
      REQUIRE(holders.size() >= 2);
      CHECK(holders.front() == guard::front);
      CHECK(holders.back() == guard::back(60));
      if (*term == guard::marker_term) {
        CHECK(holders.size() == 2);
      } else if ((*term).starts_with("Q")) {
        CHECK(holders.size() == 3);
        ++ids;
      } else if (!(*term).starts_with("XN")) {
        frequencies[*term] += holders.size() - 2;
      }
    }
    CHECK(ids == info.documents);
  }
  std::map<std::string, std::uint64_t> described;
  for (auto term = statistics.allterms_begin(); term != statistics.allterms_end(); ++term) {
    described[*term] = statistics.get_collection_freq(*term);
  }
  CHECK(described == frequencies);
  CHECK(described.at("XFkind:even") == 30);
}

TEST_CASE("An index of format version 1 is not read, not touched, and told to be built anew") {
  const TemporaryDirectory directory;
  build_small(small_collection(10, 194), directory.path(), 2);
  std::ofstream(directory.path() / "manifest.json") << R"({"format_version": 1, "collection": "debian"})";
  for (const Error& error : {read_manifest(directory.path()).error(), verify_index(directory.path()).error(),
                             LocalSearch::open(directory.path()).error()}) {
    CHECK(error.code == Errc::unsupported);
    CHECK(error.context.find("build the index anew") != std::string::npos);
  }
  CHECK(build_small(small_collection(10, 195), directory.path(), 2).generation == Generation{2});
  CHECK(std::filesystem::exists(directory.path() / "generation-1"));
}

TEST_CASE("The generation before the published one is kept until the next, and older ones go") {
  const TemporaryDirectory directory;
  const auto build = [&](std::uint32_t documents) { build_small(small_collection(documents, 131), directory.path(), 2); };
  build(10);
  auto first = LocalSearch::open(directory.path());
  REQUIRE(first.has_value());
  build(20);
  CHECK(entries_of(directory.path()) ==
        std::set<std::string>{"build.lock", "generation-1", "generation-2", "manifest.json"});
  // Whoever has read the first manifest goes on with it.
  CHECK(first->search("kebat", 10).has_value());
  CHECK(first->manifest().documents == 10);
  CHECK(LocalSearch::open(directory.path())->manifest().documents == 20);
  build(30);
  CHECK(entries_of(directory.path()) ==
        std::set<std::string>{"build.lock", "generation-2", "generation-3", "manifest.json"});
  CHECK(read_manifest(directory.path())->generation == Generation{3});
}

TEST_CASE("Two builds into one directory at once: the second is refused") {
  const TemporaryDirectory directory;
  {
    const auto first = GenerationBuild::begin(directory.path());
    REQUIRE(first.has_value());
    const auto second = GenerationBuild::begin(directory.path());
    REQUIRE(!second);
    CHECK(second.error().code == Errc::refused);
    VectorReader reader(small_collection(10, 141));
    CHECK(build_index(reader, settings_for(directory.path())).error().code == Errc::refused);
    CHECK(std::filesystem::exists(directory.path() / "generation-1"));
  }
  // The first one was not published: its folder is gone, and the lock with it.
  CHECK(!std::filesystem::exists(directory.path() / "generation-1"));
  VectorReader reader(small_collection(10, 141));
  CHECK(build_index(reader, settings_for(directory.path())).has_value());
}

TEST_CASE("A build that is killed leaves the index intact, and the next build sweeps up after it") {
  const TemporaryDirectory directory;
  build_small(small_collection(200, 151), directory.path(), 3);

  int pipe_ends[2];
  REQUIRE(::pipe(pipe_ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // Reads for ever, and says so once it is well under way.
    class EndlessReader final : public Reader {
     public:
      explicit EndlessReader(int out) : out_(out), documents_(small_collection(500, 152)) {}
      ReadOutcome next() override {
        Document document = documents_[count_ % documents_.size()];
        document.id = std::to_string(count_);
        if (++count_ == 20'000 && ::write(out_, "x", 1) != 1) ::_exit(1);
        return document;
      }
      ReadProgress progress() const override { return {}; }

     private:
      int out_;
      std::vector<Document> documents_;
      std::uint64_t count_ = 0;
    };
    EndlessReader reader(pipe_ends[1]);
    BuildSettings settings = settings_for(directory.path());
    settings.memory_bytes = BuildSettings::smallest_memory;
    (void)build_index(reader, settings);
    ::_exit(0);
  }
  ::close(pipe_ends[1]);
  char byte = 0;
  REQUIRE(::read(pipe_ends[0], &byte, 1) == 1);
  ::kill(child, SIGKILL);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  ::close(pipe_ends[0]);

  CHECK(std::filesystem::exists(directory.path() / "generation-2" / "scratch-partition-0000"));
  CHECK(read_manifest(directory.path())->generation == Generation{1});
  check_whole(directory.path());
  CHECK(LocalSearch::open(directory.path())->search("kebat", 10).has_value());

  const Manifest next = build_small(small_collection(100, 153), directory.path(), 2);
  CHECK(next.generation == Generation{2});
  CHECK(entries_of(directory.path() / "generation-2") ==
        std::set<std::string>{"partition-0000", "partition-0001", "spelling", "statistics"});
  check_whole(directory.path());
}

TEST_CASE("A manifest that cannot be read is not taken for no index: nothing of it is removed") {
  const TemporaryDirectory directory;
  build_small(small_collection(20, 161), directory.path(), 2);
  std::ofstream(directory.path() / "manifest.json") << "{}";
  const Manifest next = build_small(small_collection(20, 162), directory.path(), 2);
  CHECK(next.generation == Generation{2});
  CHECK(std::filesystem::exists(directory.path() / "generation-1" / "statistics"));
  check_whole(directory.path());
}

TEST_CASE("Building twice from the same documents gives the same partitions") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(300, 171);
  const Manifest one = build_small(documents, directory.path() / "one", 4);
  const Manifest two = build_small(documents, directory.path() / "two", 4);
  for (std::size_t p = 0; p < 4; ++p) {
    CHECK(one.partitions[p].documents == two.partitions[p].documents);
    CHECK(one.partitions[p].total_length == two.partitions[p].total_length);
  }
  CHECK(one.total_length == two.total_length);
}

}  // namespace hedgerow::test
