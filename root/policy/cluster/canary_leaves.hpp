// Which leaves run canaries now, and how leaves were lost, so that a leaf's death is blamed on the right query. Pure.
//
// Intuition: when a leaf dies, every query that ran there is under suspicion, and only one of them did it. So the second
// canary of a suspect, the one that decides, runs on a leaf that no other canary is on, and none is sent there
// meanwhile: whoever dies beside a deadly query is suspected, but never convicted for it.
//
// And not every lost link is a death. A process that dies closes its connections at once; one that is stopped, or cut
// off, is silent. What happens to many leaves at once is no query's doing, and a root that was held up itself finds
// links closed by leaves that took it for dead. So all losses are told to this object, and it is told the time as well,
// in regular beats, whose absence shows that the root was held up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::policy {

enum class LeafLoss {
  died,    // its end of the link was closed
  silent,  // nothing came from it any more
  let_go,  // the root ended the link
};

class CanaryLeaves {
 public:
  // Other canaries may be sent to it.
  bool open(LeafId leaf) const { return leaf.value >= leaves_.size() || !leaves_[leaf.value].reserved; }
  std::uint32_t running(LeafId leaf) const { return leaf.value < leaves_.size() ? leaves_[leaf.value].running : 0; }
  void on_sent(LeafId leaf) { ++of(leaf).running; }
  void on_ended(LeafId leaf) { --of(leaf).running; }
  // For one suspect alone: no further canaries are sent there. What runs there ends first.
  void reserve(LeafId leaf) { of(leaf).reserved = true; }
  void release(LeafId leaf) { of(leaf).reserved = false; }

  // Leaves' links, before those are told who made calls on them.
  void on_leaf_up(LeafId leaf) { of(leaf).up = true; }
  void on_leaf_lost(LeafId leaf, LeafLoss how, Instant now) {
    Leaf& lost = of(leaf);
    if (!lost.up && lost.loss) return;  // it was lost before
    lost.up = false;
    lost.loss = Loss{how, now, held_up(now)};
  }
  struct Loss {
    LeafLoss how;
    Instant when;
    bool held_up;  // the root was, at that time
  };
  // The last one; a leaf of which nothing was told died.
  Loss loss_of(LeafId leaf, Instant now) const {
    const auto& known = leaf.value < leaves_.size() ? leaves_[leaf.value].loss : std::nullopt;
    return known.value_or(Loss{LeafLoss::died, now, false});
  }
  bool is_up(LeafId leaf) const { return leaf.value < leaves_.size() && leaves_[leaf.value].up; }
  // Leaves that fell silent in that time, without this one.
  bool others_silent(LeafId leaf, Instant from, Instant to) const {
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const auto& loss = leaves_[i].loss;
      if (i != leaf.value && loss && loss->how == LeafLoss::silent && loss->when >= from && loss->when <= to) return true;
    }
    return false;
  }
  bool others_up(LeafId leaf) const {
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      if (i != leaf.value && leaves_[i].up) return true;
    }
    return false;
  }
  // Since then more leaves died than are up now, and at least three: what befalls the cluster is no query's doing.
  bool most_died(Instant since) const {
    const auto lost = std::count_if(leaves_.begin(), leaves_.end(), [since](const Leaf& leaf) {
      return leaf.loss && leaf.loss->how == LeafLoss::died && leaf.loss->when >= since && !leaf.up;
    });
    const auto spared = std::count_if(leaves_.begin(), leaves_.end(), [](const Leaf& leaf) { return leaf.up; });
    return lost >= 3 && lost > spared;
  }

  // To be told every beat: a root that was not, did nothing else either.
  static constexpr Duration beat = std::chrono::milliseconds(100);
  void on_beat(Instant now) {
    if (beat_ && now - *beat_ > longest_gap) held_up_until_ = now + aftermath;
    beat_ = now;
  }
  // The root is just coming back from a time in which it did nothing.
  bool held_up(Instant now) const {
    return (beat_ && now - *beat_ > longest_gap) || (held_up_until_ && now <= *held_up_until_);
  }

  // A canary's leaf died under it: searches that were under way then, and lost that leaf, are not to blame.
  void on_died(LeafId leaf, Instant now) { of(leaf).died = now; }
  bool death_is_explained(LeafId leaf, Instant began) const {
    return leaf.value < leaves_.size() && leaves_[leaf.value].died && began <= *leaves_[leaf.value].died;
  }

  // Leaves answer searches: whether they still do tells a hanging query from a cluster that hangs.
  void on_answered(Instant now) { answered_ = now; }
  bool answered_since(Instant then) const { return answered_ && *answered_ >= then; }
  // Canaries that are silent beyond their time.
  void on_overdue() { ++overdue_; }
  void on_overdue_ended() { --overdue_; }
  std::uint32_t overdue() const { return overdue_; }
  // Several trials were silent at once, and nobody was answered: until somebody is, silence says nothing of a query.
  void on_shared_silence(Instant now) { silence_ = now; }
  bool shared_silence(Instant now) const {
    constexpr Duration lasting = std::chrono::seconds(10);
    return silence_ && now - *silence_ <= lasting && !answered_since(*silence_);
  }

 private:
  // Leaves give up a root that is silent for half of the idle time (500 ms) at the soonest.
  static constexpr Duration longest_gap = std::chrono::milliseconds(400);
  static constexpr Duration aftermath = std::chrono::milliseconds(500);
  struct Leaf {
    std::uint32_t running = 0;
    bool reserved = false;
    bool up = false;
    std::optional<Loss> loss;
    std::optional<Instant> died;
  };
  Leaf& of(LeafId leaf) {
    if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
    return leaves_[leaf.value];
  }
  std::vector<Leaf> leaves_;
  std::optional<Instant> answered_, silence_;
  std::optional<Instant> beat_, held_up_until_;
  std::uint32_t overdue_ = 0;
};

}  // namespace hedgerow::policy
