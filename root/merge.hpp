// Putting partitions' hits together: a bounded list of the best, in the one order of hits. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.hpp"
#include "index/ranking.hpp"

namespace hedgerow::root {

struct MergedHit {
  ScoredDocument hit;
  PartitionId partition;
};

class Merge {
 public:
  // Keeps the best `most` hits (offset + k).
  explicit Merge(std::size_t most) : most_(most) {}

  // A partition's hits, in ranks_before order; each partition once.
  void add(PartitionId partition, const std::vector<ScoredDocument>& hits);

  // In rank order, at most `most`.
  const std::vector<MergedHit>& hits() const { return hits_; }

 private:
  std::size_t most_;
  std::vector<MergedHit> hits_;
};

}  // namespace hedgerow::root
