#include "root/merge.hpp"

#include <algorithm>

namespace hedgerow::root {

void Merge::add(PartitionId partition, const std::vector<ScoredDocument>& hits) {
  if (most_ == 0) return;
  const auto before = [](const MergedHit& a, const MergedHit& b) { return ranks_before(a.hit, b.hit); };
  for (const auto& hit : hits) {
    const MergedHit candidate{hit, partition};
    // The rest of this partition ranks even lower.
    if (hits_.size() == most_ && !before(candidate, hits_.back())) break;
    hits_.insert(std::upper_bound(hits_.begin(), hits_.end(), candidate, before), candidate);
    if (hits_.size() > most_) hits_.pop_back();
  }
}

}  // namespace hedgerow::root
