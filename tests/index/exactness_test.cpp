#include <doctest/doctest.h>

#include "comparison.hpp"
#include "index/local_search.hpp"
#include "query_mixture.hpp"
#include "reference.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

constexpr Slice slices[] = {{1, 0}, {3, 0}, {10, 0}, {30, 0}, {10, 10}, {3, 7}, {1, 29}, {5, 500}};

void check_exactness(const std::vector<Document>& documents, const std::vector<std::string>& queries,
                     const std::vector<std::uint32_t>& partition_counts) {
  const TemporaryDirectory directory;
  VectorReader reader(documents);
  Reference::build(reader, directory.path() / "reference");
  const Reference reference(directory.path() / "reference");
  std::vector<ReferenceRanking> expected;
  for (const auto& query : queries) expected.push_back(reference.by_algebra(reference.parse(query)));

  for (const std::uint32_t partitions : partition_counts) {
    CAPTURE(partitions);
    const auto index = directory.path() / ("index-" + std::to_string(partitions));
    build_small(documents, index, partitions);
    auto search = LocalSearch::open(index);
    REQUIRE(search.has_value());
    for (std::size_t i = 0; i < queries.size(); ++i) {
      CAPTURE(queries[i]);
      for (const Slice slice : slices) {
        CAPTURE(slice.k);
        CAPTURE(slice.offset);
        const auto answer = search->search(queries[i], slice.k, slice.offset);
        REQUIRE(answer.has_value());
        CHECK(difference(scored(answer->hits), expected[i], slice) == "");
        if (answer->matches_exact) CHECK(answer->matches == expected[i].size());
      }
    }
  }
}

}  // namespace

TEST_CASE("Hits, order and scores do not depend on how the collection is cut") {
  const auto documents = small_collection(1500, 11);
  QueryMixture mixture(material_of(documents, 12), 13);
  std::vector<std::string> queries;
  for (int i = 0; i < 390; ++i) queries.push_back(mixture.next());
  check_exactness(documents, queries, {1, 4, 16, 64});
}

TEST_CASE("A collection with fewer documents than partitions is searched like any other") {
  const auto documents = small_collection(20, 21);
  QueryMixture mixture(material_of(documents, 22), 23);
  std::vector<std::string> queries;
  for (int i = 0; i < 104; ++i) queries.push_back(mixture.next());
  check_exactness(documents, queries, {1, 64});
}

TEST_CASE("Xapian, asked without pruning, agrees with the algebra that the tests compare with") {
  const auto documents = small_collection(800, 31);
  const TemporaryDirectory directory;
  VectorReader reader(documents);
  Reference::build(reader, directory.path() / "reference");
  const Reference reference(directory.path() / "reference");
  QueryMixture mixture(material_of(documents, 32), 33);
  int compared = 0;
  for (int i = 0; i < 260; ++i) {
    const std::string query = mixture.next();
    // Phrases and ANDs below an OR or MAYBE are where Xapian itself goes wrong.
    const bool trusted = query.find_first_of("\"(") == std::string::npos && query.find("NEAR") == std::string::npos;
    if (!trusted) continue;
    CAPTURE(query);
    const auto engine = reference.by_engine(reference.parse(query));
    const auto algebra = reference.by_algebra(reference.parse(query));
    REQUIRE(engine.size() == algebra.size());
    for (std::size_t rank = 0; rank < engine.size(); ++rank) {
      REQUIRE(engine[rank].document == algebra[rank].document);
      REQUIRE(engine[rank].score == doctest::Approx(algebra[rank].score).epsilon(1e-12));
    }
    ++compared;
  }
  CHECK(compared > 100);
}

}  // namespace hedgerow::test
