#include "root/policy/cluster/attempt_latencies.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

constexpr Duration between_looks = std::chrono::milliseconds(100);
constexpr std::uint64_t samples_between_looks = 2;  // for each leaf
constexpr Duration longest_between_looks = std::chrono::seconds(1);
constexpr Duration between_renewals = std::chrono::milliseconds(250);
constexpr double fewest_left = 30;  // where most were given up: see kaplan_meier
constexpr std::uint64_t fewest_new = 16;  // samples that make a curve worth making anew

// Of a leaf whose attempts are nearly all given up only a lower bound of its median is known, hardly above the delay of
// the hedges that overtook them; so less of a distance makes it sick.
constexpr double sick_where_given_up = 1.5;
constexpr Duration sick_where_given_up_at_least = std::chrono::milliseconds(2);

// Rounded up, so that everything in a bucket had been answered at its upper end.
std::uint64_t in_microseconds(Duration latency) {
  return static_cast<std::uint64_t>((std::max<Duration::rep>(0, latency.count()) + 999) / 1000);
}

}  // namespace

// Microseconds up to a minute, within 0.1 %: 140 kB each.
AttemptLatencies::Ended::Ended() : answered(60'000'000, 10), given_up(60'000'000, 10) {}

void AttemptLatencies::Ended::clear() {
  if (answered.count() > 0) answered.clear();
  if (given_up.count() > 0) given_up.clear();
}

void AttemptLatencies::Ended::add(const Ended& other) {
  if (other.answered.count() > 0) answered.merge(other.answered);
  if (other.given_up.count() > 0) given_up.merge(other.given_up);
}

void AttemptLatencies::Window::clear() {
  healthy.clear();
  sick.clear();
}

AttemptLatencies::AttemptLatencies(const AttemptLatencySettings& settings) : settings_(settings) {}

AttemptLatencies::Leaf& AttemptLatencies::of(LeafId leaf) {
  if (leaf.value >= leaves_.size()) leaves_.resize(leaf.value + 1);
  return leaves_[leaf.value];
}

void AttemptLatencies::turn(Instant now) {
  if (!window_start_) window_start_ = now;
  const Duration lasted = now - *window_start_;
  if (lasted < settings_.window) return;
  if (lasted < settings_.longest_window && current_.count() < settings_.fewest) return;
  if (lasted < 2 * settings_.longest_window) {
    std::swap(current_, before_);
  } else {
    before_.clear();
  }
  current_.clear();
  window_start_ = now;
  outdated_ = true;
}

void AttemptLatencies::on_answered(LeafId leaf, Duration latency, Instant now) {
  turn(now);
  Leaf& state = of(leaf);
  (state.sick ? current_.sick : current_.healthy).answered.record(in_microseconds(latency));
  state.median.record(latency, now);
  ++recorded_;
  look_around(now);
}

void AttemptLatencies::on_given_up(LeafId leaf, Duration latency, Instant now) {
  turn(now);
  Leaf& state = of(leaf);
  (state.sick ? current_.sick : current_.healthy).given_up.record(in_microseconds(latency));
  state.median.record_at_least(latency, now);
  ++recorded_;
  look_around(now);
}

// Which leaves are sick. The verdict on a leaf of which too little is known stands.
void AttemptLatencies::look_around(Instant now) {
  const Duration since = now - looked_;
  if (since < between_looks) return;
  if (since < longest_between_looks && recorded_ - recorded_when_looked_ < samples_between_looks * leaves_.size()) return;
  looked_ = now;
  recorded_when_looked_ = recorded_;

  verdicts_.clear();
  medians_.clear();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto verdict = leaves_[i].median.verdict();
    if (!verdict) continue;
    verdicts_.emplace_back(i, *verdict);
    medians_.push_back(verdict->median);
  }
  if (medians_.empty()) return;
  const auto middle = medians_.begin() + static_cast<std::ptrdiff_t>((medians_.size() - 1) / 2);
  std::nth_element(medians_.begin(), middle, medians_.end());
  const auto times = [&](double factor) { return from_milliseconds(to_milliseconds(*middle) * factor); };
  const Duration sick = std::max(times(settings_.sick), *middle + settings_.sick_at_least);
  const Duration sick_at_least = std::max(times(sick_where_given_up), *middle + sick_where_given_up_at_least);
  const auto is_slow = [&](const RecentMedian::Verdict& verdict) {
    return verdict.median >= (verdict.at_least ? sick_at_least : sick);
  };
  const auto slow = std::count_if(verdicts_.begin(), verdicts_.end(), [&](const auto& each) { return is_slow(each.second); });
  const bool minority = 2 * static_cast<std::size_t>(slow) < verdicts_.size();
  for (const auto& [index, verdict] : verdicts_) leaves_[index].sick = minority && is_slow(verdict);
}

void AttemptLatencies::renew(Instant now) {
  turn(now);
  const std::uint64_t fresh = recorded_ - recorded_when_renewed_;
  const std::uint64_t known = current_.count() + before_.count();
  const bool due = outdated_ || (fresh > 0 && now - renewed_ >= between_renewals) || fresh >= std::max(fewest_new, known / 4);
  if (!due) return;
  outdated_ = false;
  renewed_ = now;
  recorded_when_renewed_ = recorded_;
  ++version_;

  merged_.clear();
  merged_.add(current_.healthy);
  merged_.add(before_.healthy);
  healthy_ = kaplan_meier(merged_.answered, merged_.given_up, fewest_left);
  if (current_.sick.count() + before_.sick.count() == 0) {
    all_ = healthy_;
    return;
  }
  merged_.add(current_.sick);
  merged_.add(before_.sick);
  all_ = kaplan_meier(merged_.answered, merged_.given_up, fewest_left);
}

const LatencyCurve& AttemptLatencies::all(Instant now) {
  renew(now);
  return all_;
}

const LatencyCurve& AttemptLatencies::healthy(Instant now) {
  renew(now);
  return healthy_;
}

std::uint64_t AttemptLatencies::version(Instant now) {
  renew(now);
  return version_;
}

std::optional<Duration> AttemptLatencies::median_of(LeafId leaf) const {
  if (leaf.value >= leaves_.size()) return std::nullopt;
  const auto verdict = leaves_[leaf.value].median.verdict();
  if (!verdict) return std::nullopt;
  return verdict->median;
}

std::uint64_t AttemptLatencies::samples(Instant now) {
  turn(now);
  return current_.count() + before_.count();
}

void AttemptLatencies::forget() {
  current_.clear();
  before_.clear();
  window_start_.reset();
  outdated_ = true;
}

}  // namespace hedgerow::policy
