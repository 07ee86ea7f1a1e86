// Compares an answer with the reference: same documents, same order, scores within 1e-9 of their size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "index/local_search.hpp"
#include "reference.hpp"

namespace hedgerow::test {

// Ranks offset + 1 to offset + k.
struct Slice {
  std::uint32_t k = 10;
  std::uint32_t offset = 0;
};

std::vector<ScoredDocument> scored(const std::vector<LocalHit>& hits);

// Empty, or what is wrong first.
std::string difference(const std::vector<ScoredDocument>& hits, const ReferenceRanking& expected, Slice slice);

}  // namespace hedgerow::test
