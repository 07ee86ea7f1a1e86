// What one query saw of each leaf that it asked: when it last got something done for this query, and whether it was lost
// with this query's work on it. Pure.
//
// Intuition: a leaf works through what one query asks of it one after another, so an attempt's own time begins when the
// leaf is done with the one before it, and takes the next from its queue. Attempts know their place here, so that nothing
// is searched for when they end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::policy {

class LeafProgress {
 public:
  using Place = std::uint32_t;

  explicit LeafProgress(std::size_t leaves_expected);

  // The leaf's place; a new one where it has none.
  Place place_of(LeafId leaf);
  // It got something done for this query by then.
  void on_progress(Place place, Instant when) { seen_[place].progressed = std::max(seen_[place].progressed, when); }
  void on_lost(Place place) {
    if (!std::exchange(seen_[place].lost, true)) lost_.push_back(seen_[place].leaf);
  }

  // When it was the turn of an attempt that was sent at this instant, as far as one knows by now.
  Instant turn_of(Place place, Instant sent) const {
    return seen_[place].progressed > sent ? seen_[place].progressed : sent;
  }
  // Different leaves.
  const std::vector<LeafId>& lost() const { return lost_; }

 private:
  struct Seen {
    LeafId leaf;
    bool lost = false;
    Instant progressed = Instant::min();
  };
  static constexpr Place nowhere = ~Place{0};
  std::size_t slot_of(LeafId leaf) const;
  void make_room(std::size_t slots);

  std::vector<Seen> seen_;
  std::vector<Place> slots_;  // by hash of the leaf, the next free slot where taken; a power of two, never over half full
  std::vector<LeafId> lost_;
};

}  // namespace hedgerow::policy
