#include "root/merge.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"

namespace hedgerow::root {

namespace {

// Few different scores, and some that differ as double and agree as float: many ties.
double draw_score(Random& random) {
  const double score = 1 + static_cast<double>(random.below(8));
  return random.chance(0.5) ? score : score * (1 + 1e-12 * static_cast<double>(random.below(5)));
}

std::vector<MergedHit> sorted(std::vector<MergedHit> hits) {
  std::sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) { return ranks_before(a.hit, b.hit); });
  return hits;
}

bool same(const std::vector<MergedHit>& a, const std::vector<MergedHit>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.hit.document == y.hit.document && x.hit.score == y.hit.score && x.partition == y.partition;
  });
}

}  // namespace

TEST_CASE("merging partitions equals sorting everything, whatever the order in which they come") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const std::size_t most = random.below(30);
    const auto partitions = static_cast<std::uint32_t>(1 + random.below(8));
    std::vector<std::vector<ScoredDocument>> hits(partitions);
    std::vector<MergedHit> everything;
    for (std::uint32_t document = 1; document <= 120; ++document) {
      const auto partition = static_cast<std::uint32_t>(random.below(partitions));
      if (random.chance(0.3)) continue;
      hits[partition].push_back({DocumentNumber{document}, draw_score(random)});
      everything.push_back({hits[partition].back(), PartitionId{partition}});
    }
    Merge merge(most);
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < partitions; ++i) order.insert(order.begin() + static_cast<std::ptrdiff_t>(random.below(i + 1)), i);
    for (const auto partition : order) {
      std::sort(hits[partition].begin(), hits[partition].end(), ranks_before);
      // A leaf sends at most as many as are kept.
      if (hits[partition].size() > most) hits[partition].resize(most);
      merge.add(PartitionId{partition}, hits[partition]);
    }
    auto expected = sorted(everything);
    if (expected.size() > most) expected.resize(most);
    REQUIRE(same(merge.hits(), expected));
  }
}

TEST_CASE("scores that agree as float are a tie, and the smaller document number wins it") {
  Merge merge(10);
  merge.add(PartitionId{0}, {{DocumentNumber{7}, 1.0000000000001}});
  merge.add(PartitionId{1}, {{DocumentNumber{3}, 1.0}, {DocumentNumber{9}, 0.5}});
  REQUIRE(merge.hits().size() == 3);
  CHECK(merge.hits()[0].hit.document == DocumentNumber{3});
  CHECK(merge.hits()[1].hit.document == DocumentNumber{7});
  CHECK(merge.hits()[1].hit.score == 1.0000000000001);
  CHECK(merge.hits()[2].hit.document == DocumentNumber{9});
}

}  // namespace hedgerow::root
