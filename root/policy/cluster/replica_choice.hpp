// Which replica of a partition is asked. Pure.
//
// Intuition: the leaf with the fewest attempts of ours outstanding is the one that keeps up best right now; no model of
// the leaves is needed for that, and a leaf that stops answering fills up and is left alone. Ties are broken at random,
// so that several roots do not all turn to the same leaf.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "base/random.hpp"

namespace hedgerow::policy {

class ReplicaChoice {
 public:
  explicit ReplicaChoice(Random random) : random_(random) {}

  void on_leaf_up(LeafId leaf) { of(leaf).up = true; }
  void on_leaf_down(LeafId leaf) { of(leaf).up = false; }
  // An attempt was sent, and is over, whatever came of it.
  void on_sent(LeafId leaf) { ++of(leaf).in_flight; }
  void on_ended(LeafId leaf) { --of(leaf).in_flight; }

  bool is_up(LeafId leaf) const { return leaf.value < leaves_.size() && leaves_[leaf.value].up; }
  std::uint32_t in_flight(LeafId leaf) const { return leaf.value < leaves_.size() ? leaves_[leaf.value].in_flight : 0; }

  // Among the replicas that are up and not in tried, the one with the fewest attempts in flight. nullopt: none is left.
  std::optional<LeafId> choose(std::span<const LeafId> replicas, std::span<const LeafId> tried);

 private:
  struct Leaf {
    bool up = false;
    std::uint32_t in_flight = 0;
  };
  Leaf& of(LeafId leaf) {
    if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
    return leaves_[leaf.value];
  }

  Random random_;
  std::vector<Leaf> leaves_;
};

}  // namespace hedgerow::policy
