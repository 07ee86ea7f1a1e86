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

ReferenceSettings settings_like(const Manifest& manifest) {
  ReferenceSettings settings;
  settings.language.stemmer = manifest.stemmer;
  settings.title_weight = manifest.title_weight;
  settings.k1 = manifest.bm25.k1;
  settings.k3 = manifest.bm25.k3;
  settings.b = manifest.bm25.b;
  settings.min_normalised_length = manifest.bm25.min_normalised_length;
  return settings;
}

Expectation expectation_of(ReferenceRanking ranking, std::size_t depth) {
  Expectation expected{ranking.size(), std::move(ranking)};
  if (expected.top.size() > depth) expected.top.resize(depth);
  expected.top.shrink_to_fit();  // thousands of them are kept
  return expected;
}

RankedAnswer ranked(const LocalAnswer& answer) {
  RankedAnswer ranked;
  for (const auto& hit : answer.hits) ranked.hits.push_back(hit.scored);
  if (answer.matches_exact) ranked.exact_matches = answer.matches;
  return ranked;
}

std::string difference(const RankedAnswer& answer, const Expectation& expected, Slice slice) {
  const std::size_t from = std::min<std::size_t>(slice.offset, expected.matches);
  const std::size_t count = std::min<std::size_t>(slice.k, expected.matches - from);
  if (from + count > expected.top.size()) return "the expectation is not deep enough for this comparison";
  const auto& hits = answer.hits;
  for (std::size_t i = 0; i < std::min(count, hits.size()); ++i) {
    const ReferenceHit& want = expected.top[from + i];
    const bool same = hits[i].document.value == want.document &&
                      std::abs(hits[i].score - want.score) <= std::max(1e-9 * std::abs(want.score), 1e-12);
    if (!same) {
      return "rank " + std::to_string(from + i + 1) + ": " + describe(hits[i].document.value, hits[i].score) +
             " instead of " + describe(want.document, want.score);
    }
  }
  if (hits.size() != count) return std::to_string(hits.size()) + " hits instead of " + std::to_string(count);
  if (answer.exact_matches.value_or(expected.matches) == expected.matches) return {};
  return "an exact total of " + std::to_string(*answer.exact_matches) + " instead of " +
         std::to_string(expected.matches);
}

}  // namespace hedgerow::test
