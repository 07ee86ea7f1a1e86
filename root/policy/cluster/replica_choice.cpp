#include "root/policy/cluster/replica_choice.hpp"

#include <algorithm>

namespace hedgerow::policy {

std::optional<LeafId> ReplicaChoice::choose(std::span<const LeafId> replicas, std::span<const LeafId> tried) {
  std::optional<LeafId> best;
  std::uint64_t equals = 0;
  for (const LeafId leaf : replicas) {
    if (!is_up(leaf) || std::find(tried.begin(), tried.end(), leaf) != tried.end()) continue;
    if (!best || in_flight(leaf) < in_flight(*best)) {
      best = leaf;
      equals = 1;
    } else if (in_flight(leaf) == in_flight(*best) && random_.below(++equals) == 0) {
      best = leaf;  // reservoir sampling: each of the equals with the same chance
    }
  }
  return best;
}

}  // namespace hedgerow::policy
