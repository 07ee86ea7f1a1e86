#include "comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace hedgerow::test {

namespace {

std::string describe(std::uint32_t document, double score) {
  char text[64];
  std::snprintf(text, sizeof text, "%u (%.12g)", document, score);
  return text;
}

}  // namespace

std::vector<ScoredDocument> scored(const std::vector<LocalHit>& hits) {
  std::vector<ScoredDocument> documents;
  for (const auto& hit : hits) documents.push_back(hit.scored);
  return documents;
}

std::string difference(const std::vector<ScoredDocument>& hits, const ReferenceRanking& expected, Slice slice) {
  const std::size_t from = std::min<std::size_t>(slice.offset, expected.size());
  const std::size_t count = std::min<std::size_t>(slice.k, expected.size() - from);
  for (std::size_t i = 0; i < std::min(count, hits.size()); ++i) {
    const ReferenceHit& want = expected[from + i];
    const bool same = hits[i].document.value == want.document &&
                      std::abs(hits[i].score - want.score) <= 1e-9 * std::abs(want.score);
    if (!same) {
      return "rank " + std::to_string(from + i + 1) + ": " + describe(hits[i].document.value, hits[i].score) +
             " instead of " + describe(want.document, want.score);
    }
  }
  if (hits.size() == count) return {};
  return std::to_string(hits.size()) + " hits instead of " + std::to_string(count);
}

}  // namespace hedgerow::test
