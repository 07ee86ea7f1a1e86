#include "root/policy/cluster/shared_slowness.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow::policy {

namespace {

constexpr Duration between_glances = std::chrono::milliseconds(20);
constexpr Duration lately = std::chrono::milliseconds(500);
// An attempt longer ago says nothing of the present, however few there were since.
constexpr Duration longest_ago = std::chrono::seconds(10);
constexpr double begins_above = 0.5, ends_below = 0.25;
constexpr Duration calm_for = std::chrono::milliseconds(500);

// A leaf's latest attempt has this weight at least, so three overdue ones in a row make it late; and the more the longer
// ago the one before it was.
constexpr double least_weight = 0.25;
constexpr Duration half_life = std::chrono::milliseconds(250);

}  // namespace

void SharedSlowness::note(LeafId leaf, double overdue, Instant now) {
  if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
  Leaf& state = leaves_[leaf.value];
  double weight = least_weight;
  // Shorter gaps give less than least_weight.
  if (now - state.heard > half_life * 2 / 5) weight = 1 - std::exp2(-to_seconds(now - state.heard) / to_seconds(half_life));
  state.overdue += std::max(least_weight, weight) * (overdue - state.overdue);
  state.heard = now;
  latest_[noted_++ % evidence] = now;
  look_around(now);
}

void SharedSlowness::look_around(Instant now) {
  if (noted_ < evidence || now - looked_ < between_glances) return;
  looked_ = now;
  const Instant earliest = latest_[noted_ % evidence];
  const Instant from = std::max(now - longest_ago, std::min(now - lately, earliest));
  std::size_t heard = 0, late = 0;
  for (const Leaf& leaf : leaves_) {
    if (leaf.heard == Instant{} || leaf.heard < from) continue;
    ++heard;
    late += leaf.overdue > 0.5 ? 1 : 0;
  }
  late_share_ = heard == 0 ? 0 : static_cast<double>(late) / static_cast<double>(heard);
  if (late > 1 && late_share_ >= ends_below) last_widespread_ = now;  // one leaf, of however few, is not the cluster
  if (!lasts_ && heard >= 2 && late_share_ > begins_above) {
    lasts_ = true;
    since_ = now;
  } else if (lasts_ && now - last_widespread_ >= calm_for) {
    lasts_ = false;
  }
}

void SharedSlowness::forget() {
  for (Leaf& leaf : leaves_) leaf = Leaf{};
  noted_ = 0;
  lasts_ = false;
  late_share_ = 0;
}

}  // namespace hedgerow::policy
