#include "index/facets.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <future>
#include <map>
#include <thread>

#include "collection_material.hpp"
#include "comparison.hpp"
#include "index/local_search.hpp"
#include "reference.hpp"
#include "scifact.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

using Counts = std::map<std::string, std::uint64_t>;

std::vector<Counts> counted(LocalSearch& search, const std::string& query, const std::vector<std::string>& names) {
  const auto answer = search.search(query, 1);
  REQUIRE_MESSAGE(answer.has_value(), to_string(answer.error()));
  const auto facets = search.facets(*answer, names);
  REQUIRE_MESSAGE(facets.has_value(), to_string(facets.error()));
  std::vector<Counts> counts;
  for (const auto& facet : *facets) {
    CHECK(!facet.cut);
    counts.push_back(facet.counts);
  }
  return counts;
}

// By hand, over the documents as they were read.
std::vector<Counts> counted_by_hand(const std::vector<Document>& documents, const ReferenceRanking& matches,
                                    const std::vector<std::string>& names) {
  std::vector<Counts> counts(names.size());
  for (const auto& match : matches) {
    const Document& document = documents[match.document - 1];
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto facet = document.facets.find(names[i]);
      if (facet == document.facets.end()) continue;
      for (const auto& value : facet->second) ++counts[i][value];
    }
  }
  return counts;
}

void check_counts(const std::vector<Document>& documents, const std::vector<std::string>& names, std::uint64_t seed) {
  const TemporaryDirectory directory;
  std::vector<LocalSearch> indexes;
  for (const std::uint32_t partitions : {1u, 4u, 16u}) {
    const auto index = directory.path() / std::to_string(partitions);
    build_small(documents, index, partitions);
    indexes.push_back(LocalSearch::open(index).value());
  }
  const auto settings = settings_like(indexes.front().manifest());
  VectorReader reader(documents);
  Reference::build(reader, directory.path() / "reference", settings);
  const Reference reference(directory.path() / "reference", settings);
  Random random(seed);
  QueryMixture mixture(material_of(reference, random), seed + 1);
  std::size_t with_matches = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string query = mixture.next();
    CAPTURE(query);
    const auto matches = reference.by_algebra(reference.parse(query));
    const auto expected = counted_by_hand(documents, matches, names);
    with_matches += matches.empty() ? 0 : 1;
    for (auto& index : indexes) {
      CAPTURE(index.manifest().partitions.size());
      CHECK(counted(index, query, names) == expected);
    }
  }
  CHECK(with_matches > 100);
}

// As a leaf holds it.
struct OnePartition {
  explicit OnePartition(const std::filesystem::path& directory)
      : manifest(read_manifest(directory).value()),
        statistics(CollectionStatistics::open(directory, manifest).value()),
        searcher(PartitionSearcher::open(directory, manifest, PartitionId{0}).value()) {}

  PreparedQuery prepare(const std::string& query) const {
    return PreparedQuery::prepare(plan_query(query, statistics).value()).value();
  }

  Manifest manifest;
  CollectionStatistics statistics;
  PartitionSearcher searcher;
};

Document document_of(const std::string& id, std::map<std::string, std::vector<std::string>> facets) {
  return {.id = id, .title = "Title", .url = {}, .text = "common " + id, .facets = std::move(facets)};
}

const std::vector<Document>& shelf() {
  static const std::vector<Document> documents{
      document_of("a", {{"section", {"editors"}}, {"year", {"1999"}}}),
      document_of("b", {{"section", {"Editors", "x11"}}}),
      document_of("c", {{"section", {"editors", "<script>", "x11"}}, {"year", {"2001"}}}),
      document_of("d", {}),
      document_of("e", {{"section", {"admin"}}}),
  };
  return documents;
}

}  // namespace

TEST_CASE("Facet counts are those of counting by hand, for 200 queries of every shape in 1, 4 and 16 partitions") {
  check_counts(small_collection(1200, 71), {"kind", "year", "shelf-mark", "weight", "date", "no such facet"}, 72);
}

TEST_CASE("Facet counts are those of counting by hand, for 200 queries on SciFact in 1, 4 and 16 partitions") {
  const auto documents = read_scifact(400);
  if (documents) check_counts(*documents, {"stage", "size", "day"}, 74);
}

TEST_CASE("A document counts once for each of its values, as they were given, and no guard counts") {
  const TemporaryDirectory directory;
  build_small(shelf(), directory.path(), 2);
  auto search = LocalSearch::open(directory.path()).value();
  const auto counts = counted(search, "common", {"section", "year"});
  CHECK(counts[0] == Counts{{"editors", 2}, {"Editors", 1}, {"x11", 2}, {"<script>", 1}, {"admin", 1}});
  CHECK(counts[1] == Counts{{"1999", 1}, {"2001", 1}});
  CHECK(counted(search, "nowhere", {"section"}) == std::vector<Counts>{{}});
  CHECK(counted(search, "common -title", {"section"}) == std::vector<Counts>{{}});
  CHECK(counted(search, "common", {}).empty());
}

TEST_CASE("Of too many values the most frequent are kept, ties by their bytes, and the cut is told") {
  const TemporaryDirectory directory;
  build_small(shelf(), directory.path(), 1);
  const OnePartition partition(directory.path());
  const auto most = [&](std::size_t most_values) {
    const auto facets = count_facets(partition.searcher, partition.prepare("common"), {"section"},
                                     {.most_values = most_values}, nullptr);
    REQUIRE(facets.has_value());
    return facets->front();
  };
  CHECK(most(5).cut == false);
  CHECK(most(4).cut == true);
  CHECK(most(4).counts == Counts{{"editors", 2}, {"x11", 2}, {"<script>", 1}, {"Editors", 1}});
  CHECK(most(1).counts == Counts{{"editors", 2}});
  CHECK(most(0).counts.empty());
}

TEST_CASE("Counting facets is stopped, before and while it runs, and the partition stays usable") {
  const TemporaryDirectory directory;
  build_small(small_collection(1500, 77), directory.path(), 1);
  const OnePartition partition(directory.path());
  const PreparedQuery query = partition.prepare("kebat OR balot OR \"banuket balot\" OR year:1990..2010");
  const auto count = [&](const std::atomic<bool>* stop) {
    return count_facets(partition.searcher, query, {"kind", "year"}, {}, stop);
  };
  const auto before = count(nullptr);
  REQUIRE(before.has_value());
  REQUIRE(before->front().counts.size() == 2);

  std::atomic<bool> stop = true;
  const auto stopped = count(&stop);
  REQUIRE(!stopped.has_value());
  CHECK(stopped.error().code == Errc::cancelled);

  // From another thread, in the middle of whatever is running: it goes on until one has been ended.
  stop = false;
  std::promise<void> first_done;
  std::thread other([&, started = first_done.get_future()] {
    started.wait();
    stop = true;
  });
  bool cancelled = false;
  for (int i = 0; i < 1'000'000 && !cancelled; ++i) {
    const auto counted = count(&stop);
    if (i == 0) first_done.set_value();
    cancelled = !counted.has_value();
    if (cancelled) CHECK(counted.error().code == Errc::cancelled);
  }
  other.join();
  CHECK(cancelled);
  const auto after = count(nullptr);
  REQUIRE(after.has_value());
  CHECK(after->front().counts == before->front().counts);
}

TEST_CASE("A query that was planned for another generation counts nothing") {
  const TemporaryDirectory directory;
  build_small(shelf(), directory.path(), 1);
  const OnePartition before(directory.path());
  const PreparedQuery planned = before.prepare("common");
  build_small(shelf(), directory.path(), 1);
  const OnePartition after(directory.path());
  const auto counts = count_facets(after.searcher, planned, {"section"}, {}, nullptr);
  REQUIRE(!counts.has_value());
  CHECK(counts.error().code == Errc::protocol);
}

}  // namespace hedgerow::test
