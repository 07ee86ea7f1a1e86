// The way between roots and leaves: how long a frame takes, that on one link nothing overtakes, and that what travels on
// a link that breaks is lost.
//
// A link's term ends when it breaks and when it comes back; what was sent in another term does not arrive.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "lab/simulation/world.hpp"

namespace hedgerow::lab::simulation {

class Network {
 public:
  Network(const WorldSettings& settings, Random random)
      : delay_(settings.network),
        random_(random),
        leaves_(settings.leaves),
        instant_(delay_.longer_than(Duration::zero()) == 0),
        links_(settings.leaves),
        last_(instant_ ? 0 : 2 * settings.roots * settings.leaves) {}

  // Nothing takes time.
  bool instant() const { return instant_; }
  Instant at_leaf(std::uint32_t root, LeafId leaf, Instant now) { return arrival(2 * (root * leaves_ + leaf.value), now); }
  Instant at_root(std::uint32_t root, LeafId leaf, Instant now) { return arrival(2 * (root * leaves_ + leaf.value) + 1, now); }
  Instant at_twin(Instant now) { return instant_ ? now : now + delay_.draw(random_); }

  std::uint32_t term(LeafId leaf) const { return links_[leaf.value].term; }
  bool is_whole(LeafId leaf) const { return links_[leaf.value].whole; }
  bool carries(LeafId leaf, std::uint32_t term) const { return links_[leaf.value].whole && links_[leaf.value].term == term; }
  void break_links(LeafId leaf) { links_[leaf.value] = {links_[leaf.value].term + 1, false}; }
  void mend_links(LeafId leaf) { links_[leaf.value] = {links_[leaf.value].term + 1, true}; }

 private:
  struct Links {
    std::uint32_t term = 0;
    bool whole = true;
  };
  Instant arrival(std::size_t direction, Instant now) {
    if (instant_) return now;
    return last_[direction] = std::max(last_[direction], now + delay_.draw(random_));
  }

  ServiceTime delay_;
  Random random_;
  std::size_t leaves_;
  bool instant_;
  std::vector<Links> links_;   // of each leaf, to all roots
  std::vector<Instant> last_;  // arrival, of each root, leaf and direction
};

}  // namespace hedgerow::lab::simulation
