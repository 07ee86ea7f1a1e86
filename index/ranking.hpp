// The one order of hits, everywhere: what the searcher sorts by, what the root merges by, what every test compares by.
// Pure; includes no engine.
#pragma once

#include "base/ids.hpp"

namespace hedgerow {

struct ScoredDocument {
  DocumentNumber document;
  double score = 0;
};

// Score descending, then document ascending, where scores that agree as float are a tie: the arithmetic of two
// partitionings differs in the last bits of a double, and a tie must break the same way in all of them.
inline bool ranks_before(const ScoredDocument& a, const ScoredDocument& b) {
  const auto score_a = static_cast<float>(a.score);
  const auto score_b = static_cast<float>(b.score);
  return score_a != score_b ? score_a > score_b : a.document < b.document;
}

}  // namespace hedgerow
