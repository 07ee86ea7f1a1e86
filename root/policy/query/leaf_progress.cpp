#include "root/policy/query/leaf_progress.hpp"

#include <bit>

namespace hedgerow::policy {

LeafProgress::LeafProgress(std::size_t leaves_expected) {
  seen_.reserve(leaves_expected);
  make_room(std::bit_ceil(2 * leaves_expected + 8));
}

std::size_t LeafProgress::slot_of(LeafId leaf) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = (leaf.value * 0x9e3779b9u >> 7) & mask;
  while (slots_[slot] != nowhere && seen_[slots_[slot]].leaf != leaf) slot = (slot + 1) & mask;
  return slot;
}

LeafProgress::Place LeafProgress::place_of(LeafId leaf) {
  std::size_t slot = slot_of(leaf);
  if (slots_[slot] != nowhere) return slots_[slot];
  if (2 * (seen_.size() + 1) > slots_.size()) {
    make_room(2 * slots_.size());
    slot = slot_of(leaf);
  }
  slots_[slot] = static_cast<Place>(seen_.size());
  seen_.push_back({.leaf = leaf});
  return slots_[slot];
}

void LeafProgress::make_room(std::size_t slots) {
  slots_.assign(slots, nowhere);
  for (Place place = 0; place < seen_.size(); ++place) slots_[slot_of(seen_[place].leaf)] = place;
}

}  // namespace hedgerow::policy
