#include "root/policy/cluster/cluster_load.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace hedgerow::policy {

namespace {

constexpr Duration between_medians = std::chrono::milliseconds(50);
// A smallest waiting time is forgotten after two spells at the latest.
constexpr Duration spell = std::chrono::milliseconds(100);
// A leaf of which nothing was heard for so long does not say how long one waits now.
constexpr Duration just_now = std::chrono::milliseconds(500);
// What was fades in steps, eight for each half life, so that most answers cost no more than a few additions.
constexpr Duration fading_step = ClusterLoad::half_life / 8;
constexpr Duration no_wait_known = Duration::max();

// Work that takes as long as this, or longer, is waited for because of load. Shorter work than the first may as well wait for
// a thread's way to a processor, or for a burst on a machine that leaves share.
constexpr double short_work_seconds = 0.002, long_work_seconds = 0.004;

template <class Value>
Value median(std::vector<Value>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

ClusterLoad::Leaf& ClusterLoad::hear_of(LeafId leaf, Instant now) {
  if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
  Leaf& state = leaves_[leaf.value];
  if (state.heard == Instant{}) {
    state.least = state.least_before = no_wait_known;
    state.spell = state.faded = now;
  }
  state.heard = now;
  const auto steps = (now - state.faded) / fading_step;
  if (steps > 0) {
    const double kept = std::exp2(-static_cast<double>(steps) / 8);
    state.queue_seconds *= kept;
    state.newest_wait_seconds *= kept;
    state.service_seconds *= kept;
    state.answered *= kept;
    state.refused *= kept;
    state.faded += steps * fading_step;
  }
  if (now - state.spell >= spell) {
    const bool just_before = now - state.spell < 2 * spell;
    state.least_before = just_before ? state.least : no_wait_known;
    state.least = no_wait_known;
    state.waited_seconds_before = just_before ? state.waited_seconds : 0;
    state.waits_before = just_before ? state.waits : 0;
    state.waited_seconds = 0;
    state.waits = 0;
    state.spell = now;
  }
  return state;
}

void ClusterLoad::on_answered(LeafId leaf, const AttemptReport& report, Instant now) {
  Leaf& state = hear_of(leaf, now);
  state.service_seconds += to_seconds(report.service_time);
  state.answered += 1;
  state.least = std::min(state.least, report.queue_time);
  look_around(now);
}

void ClusterLoad::on_waited(LeafId leaf, Duration waited, Instant now) {
  Leaf& state = hear_of(leaf, now);
  state.newest_wait_seconds = to_seconds(waited);
  state.queue_seconds += state.newest_wait_seconds;
  state.waited_seconds += to_seconds(waited);
  ++state.waits;
}

void ClusterLoad::on_failed(LeafId leaf, bool refused, Instant now) {
  Leaf& state = hear_of(leaf, now);
  (refused ? state.refused : state.answered) += 1;
  look_around(now);
}

double ClusterLoad::pressure_of(const Leaf& leaf, Instant now) {
  constexpr double memory_seconds = to_seconds(half_life) / std::numbers::ln2;
  // Without the newest: just after a wait, and that is when one looks, a single one would pass for an average.
  const double waiting = (leaf.queue_seconds - leaf.newest_wait_seconds) / memory_seconds *
                         std::exp2(-to_seconds(now - leaf.faded) / to_seconds(half_life));
  const double ratio = leaf.queue_seconds / leaf.service_seconds;
  const double most = std::max(0.0, waiting);
  if (ratio <= most) return ratio;
  const double work = leaf.service_seconds / leaf.answered;
  return std::lerp(most, ratio, std::clamp((work - short_work_seconds) / (long_work_seconds - short_work_seconds), 0.0, 1.0));
}

void ClusterLoad::look_around(Instant now) {
  if (looked_ != Instant{} && now - looked_ < between_medians) return;
  looked_ = now;
  ratios_.clear();
  pressures_.clear();
  shares_.clear();
  times_.clear();
  waits_.clear();
  for (const Leaf& leaf : leaves_) {
    if (leaf.heard == Instant{} || now - leaf.heard >= lately) continue;
    if (leaf.service_seconds > 0) {
      ratios_.push_back(leaf.queue_seconds / leaf.service_seconds);
      pressures_.push_back(pressure_of(leaf, now));
    }
    shares_.push_back(leaf.refused / (leaf.refused + leaf.answered));
    const Duration least = std::min(leaf.least, leaf.least_before);
    if (least != no_wait_known && now - leaf.heard < just_now) times_.push_back(least);
    if (const auto waits = leaf.waits + leaf.waits_before; waits > 0 && now - leaf.heard < just_now) {
      const double mean = (leaf.waited_seconds + leaf.waited_seconds_before) / waits;
      waits_.push_back(Duration(static_cast<Duration::rep>(mean * 1e9)));
    }
  }
  queueing_ = ratios_.empty() ? 0 : median(ratios_);
  pressure_ = pressures_.empty() ? 0 : median(pressures_);
  least_queue_time_ = times_.empty() ? Duration{} : median(times_);
  mean_wait_ = waits_.empty() ? Duration{} : median(waits_);

  std::sort(shares_.begin(), shares_.end());
  const std::size_t left_out = (shares_.size() + 9) / 10;
  const std::size_t counted = shares_.size() > left_out ? shares_.size() - left_out : shares_.size();
  double sum = 0;
  for (std::size_t i = 0; i < counted; ++i) sum += shares_[i];
  refused_share_ = counted == 0 ? 0 : sum / static_cast<double>(counted);
}

}  // namespace hedgerow::policy
