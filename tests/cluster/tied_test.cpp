// Tied requests between real processes: two leaves queue each partition's work, hardly ever do both execute it.
#include <doctest/doctest.h>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

lab::SearchParameters asking_tied(const std::string& tied, const std::string& deadline = "20s") {
  return {{"k", "30"}, {"deadline", deadline}, {"tied", tied}, {"hedge", "off"}, {"spelling", "off"}, {"snippets", "off"}};
}

double executed_in_all(TestCluster& cluster) {
  double sum = 0;
  for (const auto& leaf : cluster.leaves()) sum += cluster.metric(leaf, "hedgerow_leaf_work_executed_total{work=\"search\"}");
  return sum;
}

}  // namespace

TEST_CASE("tied requests find the same as others, and execute less than a tenth more") {
  TestCluster cluster({.replicas = 2});
  std::vector<nlohmann::json> expected;
  for (std::size_t i = 0; i < 20; ++i) expected.push_back(cluster.search(synthetic_query(i), asking_tied("off")).json());
  for (std::size_t i = 0; i < 20; ++i) cluster.search(synthetic_query(i), asking_tied("on"));  // leaves come to know each other
  const double before = executed_in_all(cluster);
  const double raced_before = cluster.metric("root", "hedgerow_root_tied_both_began_total");
  const std::size_t queries = 100;
  std::uint64_t tied = 0;
  for (std::size_t i = 0; i < queries; ++i) {
    const auto answer = cluster.search(synthetic_query(i % 20), asking_tied("on")).json();
    REQUIRE(answer["finished"] == "complete");
    CHECK(answer["hits"] == expected[i % 20]["hits"]);
    CHECK(answer["attempts"]["primary"] == 0);
    tied += answer["attempts"]["tied"].get<std::uint64_t>();
  }
  const double copies = (executed_in_all(cluster) - before) / (8.0 * queries);
  MESSAGE("copies executed of each partition: ", copies, "; attempts sent: ", static_cast<double>(tied) / (8.0 * queries),
          "; both began: ", cluster.metric("root", "hedgerow_root_tied_both_began_total") - raced_before);
  CHECK(copies >= 1);
  CHECK(copies < 1.1);
}

TEST_CASE("of a tied pair, the half in a queue that does not move is dropped once the other one begins") {
  TestCluster cluster({.index = animal_index().directory, .replicas = 2, .allow_faults = true});
  const auto expected = cluster.search("otter", asking_tied("off")).json();
  for (int i = 0; i < 5; ++i) cluster.search("otter", asking_tied("on"));
  cluster.set_faults("leaf-1", {{{"kind", "pause"}}});
  std::uint64_t tied = 0;
  for (int i = 0; i < 5; ++i) {
    const auto answer = cluster.search("otter", asking_tied("on")).json();
    CHECK(answer["finished"] == "complete");
    CHECK(answer["hits"] == expected["hits"]);
    tied += answer["attempts"]["tied"].get<std::uint64_t>();
  }
  CHECK(tied > 5 * 8);
  // No copy waits for the pause to end.
  CHECK(eventually(10s, [&] { return cluster.metric("leaf-1", "hedgerow_leaf_queued_attempts") == 0; }));
  cluster.clear_faults("leaf-1");
}
