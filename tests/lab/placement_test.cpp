#include "lab/placement.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace hedgerow;
using namespace hedgerow::lab;

namespace {

struct Spread {
  std::size_t least = 0, most = 0;                // partitions on a leaf
  std::map<std::uint32_t, std::set<std::size_t>> holders;  // leaves of each partition
  std::vector<std::set<std::size_t>> neighbours;  // leaves that a leaf shares a partition with
};

Spread spread_of(const Placement& placement) {
  Spread spread;
  spread.least = placement.front().size();
  for (std::size_t leaf = 0; leaf < placement.size(); ++leaf) {
    spread.least = std::min(spread.least, placement[leaf].size());
    spread.most = std::max(spread.most, placement[leaf].size());
    for (const auto partition : placement[leaf]) spread.holders[partition.value].insert(leaf);
  }
  spread.neighbours.resize(placement.size());
  for (const auto& [partition, leaves] : spread.holders) {
    for (const auto one : leaves) {
      for (const auto other : leaves) {
        if (one != other) spread.neighbours[one].insert(other);
      }
    }
  }
  return spread;
}

}  // namespace

TEST_CASE("every partition is on as many different leaves as it has replicas, and leaves differ by at most one") {
  for (std::size_t leaves = 1; leaves <= 17; ++leaves) {
    for (std::size_t replicas = 1; replicas <= std::min<std::size_t>(leaves, 4); ++replicas) {
      for (std::size_t partitions : {1, 2, 3, 5, 7, 8, 16, 23, 64, 100}) {
        CAPTURE(leaves);
        CAPTURE(replicas);
        CAPTURE(partitions);
        const auto placement = place_partitions(partitions, replicas, leaves);
        if (leaves > partitions * replicas) {
          CHECK(placement.has_error());
          continue;
        }
        REQUIRE(placement.has_value());
        REQUIRE(placement->size() == leaves);
        const auto spread = spread_of(*placement);
        CHECK(spread.most - spread.least <= 1);
        REQUIRE(spread.holders.size() == partitions);
        // A set of leaves: a partition twice on one leaf would be short of one.
        for (const auto& [partition, holders] : spread.holders) CHECK(holders.size() == replicas);
        for (const auto& held : *placement) CHECK(std::is_sorted(held.begin(), held.end()));
      }
    }
  }
}

TEST_CASE("with two replicas no two leaves share a second partition before all other pairs share one") {
  for (std::size_t leaves = 2; leaves <= 17; ++leaves) {
    for (std::size_t partitions = (leaves + 1) / 2; partitions <= 150; ++partitions) {
      const auto placement = place_partitions(partitions, 2, leaves);
      REQUIRE(placement.has_value());
      const auto spread = spread_of(*placement);
      for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
        CAPTURE(leaves);
        CAPTURE(partitions);
        CAPTURE(leaf);
        CHECK(spread.neighbours[leaf].size() == std::min((*placement)[leaf].size(), leaves - 1));
      }
    }
  }
}

TEST_CASE("16 partitions with two replicas on 8 leaves: four each, each shared with another leaf") {
  const auto placement = place_partitions(16, 2, 8);
  REQUIRE(placement.has_value());
  for (const auto& held : *placement) CHECK(held.size() == 4);
  for (const auto& neighbours : spread_of(*placement).neighbours) CHECK(neighbours.size() == 4);
}

TEST_CASE("with three replicas a leaf's partitions are still shared with most other leaves") {
  const auto placement = place_partitions(64, 3, 8);
  REQUIRE(placement.has_value());
  for (const auto& neighbours : spread_of(*placement).neighbours) CHECK(neighbours.size() == 7);
}

TEST_CASE("what cannot be placed is refused, and the reason names the numbers") {
  CHECK(place_partitions(16, 2, 0).error().code == Errc::invalid_argument);
  CHECK(place_partitions(16, 0, 8).error().code == Errc::invalid_argument);
  const auto too_many_replicas = place_partitions(16, 3, 2);
  REQUIRE(too_many_replicas.has_error());
  CHECK(too_many_replicas.error().context.find("3 replicas") != std::string::npos);
  const auto too_many_leaves = place_partitions(2, 2, 5);
  REQUIRE(too_many_leaves.has_error());
  CHECK(too_many_leaves.error().context.find("5 leaves") != std::string::npos);
}
