#include "root/assignment.hpp"

#include <doctest/doctest.h>

#include <set>

namespace hedgerow::root {

namespace {

// Partition i is held by leaves i and i + 1.
Replicas replicas_of(std::uint32_t partitions) {
  Replicas replicas;
  for (std::uint32_t i = 0; i < partitions; ++i) replicas.push_back({LeafId{i}, LeafId{i + 1}});
  return replicas;
}

std::vector<std::uint32_t> asked_of(const Assignment& assignment) {
  std::vector<std::uint32_t> partitions;
  for (const auto& asked : assignment.asked) partitions.push_back(asked.partition.value);
  return partitions;
}

}  // namespace

TEST_CASE("without a width every partition is asked, in order, with its replicas") {
  const auto assignment = assign(replicas_of(4), std::nullopt, 99);
  CHECK(asked_of(assignment) == std::vector<std::uint32_t>{0, 1, 2, 3});
  CHECK(assignment.asked[2].replicas == std::vector{LeafId{2}, LeafId{3}});
  CHECK(assignment.not_asked.empty());
  CHECK(assignment.unassigned.empty());
}

TEST_CASE("a width picks exactly so many distinct partitions, and names the others as not asked") {
  const auto replicas = replicas_of(16);
  for (std::uint32_t width = 1; width <= 20; ++width) {
    for (std::uint64_t hash = 0; hash < 50; ++hash) {
      const auto assignment = assign(replicas, width, hash);
      std::set<std::uint32_t> seen;
      for (const auto partition : asked_of(assignment)) seen.insert(partition);
      REQUIRE(seen.size() == std::min(width, 16U));
      REQUIRE(assignment.asked.size() == seen.size());
      for (const auto partition : assignment.not_asked) REQUIRE(seen.insert(partition.value).second);
      REQUIRE(seen.size() == 16);
    }
  }
}

TEST_CASE("the same query asks the same partitions each time") {
  const auto replicas = replicas_of(64);
  for (const std::uint64_t hash : {0ULL, 1ULL, 0x9e3779b97f4a7c15ULL, ~0ULL}) {
    CHECK(asked_of(assign(replicas, 8, hash)) == asked_of(assign(replicas, 8, hash)));
  }
  CHECK(asked_of(assign(replicas, 8, 1)) != asked_of(assign(replicas, 8, 2)));
}

TEST_CASE("over many queries every partition is asked equally often") {
  const auto replicas = replicas_of(16);
  std::vector<int> asked(16, 0);
  constexpr int queries = 40'000;
  for (int hash = 0; hash < queries; ++hash) {
    for (const auto partition : asked_of(assign(replicas, 4, static_cast<std::uint64_t>(hash)))) ++asked[partition];
  }
  // A quarter of the queries each: 10,000, with a standard deviation of 87.
  for (const int times : asked) {
    CHECK(times > 9'600);
    CHECK(times < 10'400);
  }
}

TEST_CASE("a wanted partition that no leaf has is unassigned, one beyond the width is only not asked") {
  Replicas replicas = replicas_of(3);
  replicas[1].clear();
  const auto all = assign(replicas, std::nullopt, 0);
  CHECK(asked_of(all) == std::vector<std::uint32_t>{0, 2});
  CHECK(all.unassigned == std::vector{PartitionId{1}});

  for (std::uint64_t hash = 0; hash < 30; ++hash) {
    const auto one = assign(replicas, 1, hash);
    REQUIRE(one.asked.size() + one.unassigned.size() == 1);
    REQUIRE(one.not_asked.size() == 2);
  }
}

}  // namespace hedgerow::root
