#include "lab/advise/attempt_tail.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

#include "base/random.hpp"
#include "lab/advise/binomial.hpp"

namespace hedgerow::lab {

namespace {

// Steps whose shares differ by less are one; the planner resamples more coarsely.
constexpr double step_resolution = 0.0005;
// A bucket's latencies are spread over parts of about this width.
constexpr double part_width = 0.005;
constexpr std::uint64_t most_parts = 400;
// Where most was given up, and fewer than this lasted so long: the few say nothing of the rest (as in the root).
constexpr double fewest_left = 30;
// Shares that are equal but for it are equal.
constexpr double rounding_of_shares = 1e-9;

struct Answered {
  Duration time;
  double count;
};

std::vector<Answered> spread_out(const LatencyCounts& latencies) {
  std::vector<Answered> out;
  out.reserve(latencies.buckets().size());
  for (const LatencyCounts::Bucket& bucket : latencies.buckets()) {
    const double low = static_cast<double>(bucket.lowest.count()), high = static_cast<double>(bucket.highest.count());
    const double wanted = high <= low ? 1 : low <= 0 ? static_cast<double>(most_parts) : std::ceil(std::log(high / low) / part_width);
    const std::uint64_t parts = std::min({most_parts, bucket.count, static_cast<std::uint64_t>(std::max(1.0, wanted))});
    for (std::uint64_t i = 1; i <= parts; ++i) {
      const double end = low + (high - low) * static_cast<double>(i) / static_cast<double>(parts);
      out.push_back({Duration{static_cast<Duration::rep>(std::ceil(end))}, static_cast<double>(bucket.count) / static_cast<double>(parts)});
    }
  }
  // Buckets may overlap where files were added up.
  std::stable_sort(out.begin(), out.end(), [](const Answered& a, const Answered& b) { return a.time < b.time; });
  return out;
}

// Each of so many goes to one of two halves by the toss of a coin.
std::uint64_t tossed(std::uint64_t count, Random& random) {
  std::uint64_t heads = 0;
  for (; count >= 64; count -= 64) heads += static_cast<std::uint64_t>(std::popcount(random.next()));
  return count == 0 ? heads : heads + static_cast<std::uint64_t>(std::popcount(random.next() >> (64 - count)));
}

struct TwoCounts {
  LatencyCounts one, other;
};

TwoCounts halved(const LatencyCounts& latencies, Random& random) {
  std::vector<LatencyCounts::Bucket> one, other;
  for (const LatencyCounts::Bucket& bucket : latencies.buckets()) {
    const std::uint64_t heads = tossed(bucket.count, random);
    one.push_back({bucket.lowest, bucket.highest, heads});
    other.push_back({bucket.lowest, bucket.highest, bucket.count - heads});
  }
  return {LatencyCounts(std::move(one)), LatencyCounts(std::move(other))};
}

}  // namespace

AttemptTail::AttemptTail(const LatencyCounts& latencies, const LatencyCounts& given_up, std::size_t partitions)
    : partitions_(std::max<std::size_t>(1, partitions)),
      answered_(latencies.count()),
      given_up_(given_up.count()),
      smallest_(1 / (static_cast<double>(answered_) * static_cast<double>(partitions_))) {
  assert(answered_ > 0);
  const auto all = static_cast<double>(samples());
  double at_risk = all, left = 1, greenwood = 0, trials = all, told = 1;
  bool all_answered = true;  // so far: then the share is a count, and exact
  auto censored = given_up.buckets().begin();
  const auto answers = spread_out(latencies);
  for (std::size_t i = 0; i < answers.size();) {
    const Duration time = answers[i].time;
    double ended = 0;
    for (; i < answers.size() && answers[i].time == time; ++i) ended += answers[i].count;
    for (; censored != given_up.buckets().end() && censored->lowest < time; ++censored) {
      at_risk -= static_cast<double>(censored->count);
      all_answered = false;
    }
    if (at_risk < fewest_left && at_risk < all * left / 2) break;
    // The rest of a sum of parts is no sample.
    const bool all_ended = at_risk - ended < 0.5;
    left = all_ended ? 0 : all_answered ? (at_risk - ended) / all : left * (1 - ended / at_risk);
    if (!all_ended) {
      greenwood += ended / (at_risk * (at_risk - ended));
      trials = std::clamp((1 - left) / (left * greenwood), 1.0, all);
    }
    at_risk -= ended;
    if (left > told * (1 - step_resolution) && i < answers.size()) continue;
    told = left;
    steps_.push_back({time, left, of_attempts(left), trials});
  }
}

double AttemptTail::of_attempts(double left) const {
  if (partitions_ == 1) return left;
  // 1 - (1 - left)^(1/n), without losing small ones.
  return left >= 1 ? 1 : -std::expm1(std::log1p(-left) / static_cast<double>(partitions_));
}

const AttemptTail::Step* AttemptTail::step_at(Duration t) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), t, [](Duration wanted, const Step& step) { return wanted < step.time; });
  return next == steps_.begin() ? nullptr : &*std::prev(next);
}

double AttemptTail::after(Duration t) const {
  const Step* step = step_at(t);
  return step ? std::max(smallest_, step->attempts) : 1;
}

std::optional<Duration> AttemptTail::earliest(double share) const {
  if (share >= 1) return Duration{};
  share *= 1 + rounding_of_shares;
  if (share < smallest_) return std::nullopt;
  const auto found = std::partition_point(steps_.begin(), steps_.end(), [&](const Step& step) { return std::max(smallest_, step.attempts) > share; });
  if (found == steps_.end()) return std::nullopt;
  return found->time;
}

double AttemptTail::least_after(Duration t, double error) const {
  if (t < Duration{}) return 1;
  // Past the last answer, where others were given up, anything may be.
  if (t > last() && !steps_.empty() && steps_.back().left > 0) return 0;
  const Step* step = step_at(t);
  const double left = step ? step->left : 1, trials = step ? step->trials : static_cast<double>(samples());
  return of_attempts(least_chance(left * trials, trials, error));
}

double AttemptTail::most_after(Duration t, double error) const {
  const Step* step = t < Duration{} ? nullptr : step_at(t);
  return step ? of_attempts(most_chance(step->left * step->trials, step->trials, error)) : 1;
}

policy::LatencyCurve AttemptTail::curve() const {
  policy::LatencyCurve curve;
  // By which the planner knows the smallest share.
  curve.answered = answered_ * partitions_;
  curve.given_up = given_up_ * partitions_;
  curve.steps.reserve(steps_.size());
  for (const Step& step : steps_) curve.steps.push_back({step.time, step.attempts});
  return curve;
}

AttemptTail::Halves AttemptTail::halves(const LatencyCounts& latencies, const LatencyCounts& given_up, std::size_t partitions,
                                        std::uint64_t seed) {
  Random random(seed);
  const TwoCounts answered = halved(latencies, random);
  const TwoCounts censored = halved(given_up, random);
  return {AttemptTail(answered.one, censored.one, partitions), AttemptTail(answered.other, censored.other, partitions)};
}

}  // namespace hedgerow::lab
