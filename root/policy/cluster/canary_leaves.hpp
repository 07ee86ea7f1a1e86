// Which leaves run canaries now, so that a leaf's death is blamed on the right query. Pure.
//
// Intuition: when a leaf dies, every query that ran there is under suspicion, and only one of them did it. So the second
// canary of a suspect, the one that decides, runs on a leaf that no other canary is on, and none is sent there
// meanwhile: whoever dies beside a deadly query is suspected, but never convicted for it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::policy {

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

  // A canary's leaf died under it: whoever else lost that leaf at about that time is not to blame.
  void on_died(LeafId leaf, Instant now) { of(leaf).died = now; }
  bool death_is_explained(LeafId leaf, Instant now) const {
    constexpr Duration at_about_that_time = std::chrono::seconds(30);
    return leaf.value < leaves_.size() && leaves_[leaf.value].died && now - *leaves_[leaf.value].died <= at_about_that_time;
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
  struct Leaf {
    std::uint32_t running = 0;
    bool reserved = false;
    std::optional<Instant> died;
  };
  Leaf& of(LeafId leaf) {
    if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
    return leaves_[leaf.value];
  }
  std::vector<Leaf> leaves_;
  std::optional<Instant> answered_, silence_;
  std::uint32_t overdue_ = 0;
};

}  // namespace hedgerow::policy
