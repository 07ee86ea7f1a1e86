// Compares an answer with the reference: same documents, same order, scores within 1e-9 of their size (of small ones,
// within 1e-12).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "index/local_search.hpp"
#include "index/manifest.hpp"
#include "reference.hpp"

namespace hedgerow::test {

// What the manifest says of how its documents are indexed and scored.
ReferenceSettings settings_like(const Manifest& manifest);

// Ranks offset + 1 to offset + k.
struct Slice {
  std::uint32_t k = 10;
  std::uint32_t offset = 0;
};

// What the reference says: how many documents match, and the first of them.
struct Expectation {
  std::uint64_t matches = 0;
  ReferenceRanking top;  // as deep as the slices reach, or all
};
Expectation expectation_of(ReferenceRanking ranking, std::size_t depth);

// What was answered.
struct RankedAnswer {
  std::vector<ScoredDocument> hits;
  std::optional<std::uint64_t> exact_matches;  // where the answer claims to know
};
RankedAnswer ranked(const LocalAnswer& answer);

// Empty, or what is wrong first.
std::string difference(const RankedAnswer& answer, const Expectation& expected, Slice slice);

}  // namespace hedgerow::test
