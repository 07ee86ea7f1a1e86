#include "root/policy/cluster/latency_model.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

// Microseconds up to a minute, within 1.6 %: 11 kB.
Histogram microseconds() { return Histogram(60'000'000, 6); }

std::uint64_t whole_microseconds(Duration latency) {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count()) / 1000);
}

}  // namespace

LatencyModel::Window::Window() : answered(microseconds()), given_up(microseconds()) {}

void LatencyModel::Window::clear() {
  if (answered.count() > 0) answered.clear();
  if (given_up.count() > 0) given_up.clear();
}

LatencyModel::LatencyModel(Duration window) : window_(window) {}

void LatencyModel::turn(Instant now) {
  if (!window_start_) window_start_ = now;
  if (now - *window_start_ < window_) return;
  if (now - *window_start_ < 2 * window_) {
    std::swap(current_, before_);
    *window_start_ += window_;  // not now: a late turn would keep old samples for longer
  } else {
    before_.clear();
    window_start_ = now;
  }
  current_.clear();
}

void LatencyModel::record(Duration latency, Instant now) {
  turn(now);
  current_.answered.record(whole_microseconds(latency));
}

void LatencyModel::record_at_least(Duration latency, Instant now) {
  turn(now);
  current_.given_up.record(whole_microseconds(latency));
}

std::optional<Duration> LatencyModel::quantile(double quantile, Instant now) {
  turn(now);
  if (current_.count() + before_.count() == 0) return std::nullopt;
  if (current_.given_up.count() + before_.given_up.count() > 0) return curve(now).quantile(quantile);
  Histogram answered = current_.answered;
  answered.merge(before_.answered);
  return std::chrono::microseconds(answered.value_at_quantile(quantile));
}

LatencyCurve LatencyModel::curve(Instant now) {
  turn(now);
  Histogram answered = current_.answered, given_up = current_.given_up;
  answered.merge(before_.answered);
  given_up.merge(before_.given_up);
  return kaplan_meier(answered, given_up);
}

LatencyCurve kaplan_meier(const Histogram& answered, const Histogram& given_up, double fewest_left) {
  LatencyCurve curve;
  curve.answered = answered.count();
  curve.given_up = given_up.count();
  const auto ends = given_up.buckets();
  const auto all = static_cast<double>(curve.answered + curve.given_up);
  double at_risk = all, unanswered = 1;
  auto end = ends.begin();
  for (const auto& bucket : answered.buckets()) {
    for (; end != ends.end() && end->lowest < bucket.lowest; ++end) at_risk -= static_cast<double>(end->count);
    if (at_risk < fewest_left && at_risk < all * unanswered / 2) break;
    const auto count = static_cast<double>(bucket.count);
    unanswered *= 1 - count / at_risk;
    at_risk -= count;
    curve.steps.push_back({std::chrono::microseconds(std::min(bucket.highest, answered.max())), std::max(0.0, unanswered)});
  }
  return curve;
}

double LatencyCurve::unanswered_after(Duration time) const {
  const auto next = std::upper_bound(steps.begin(), steps.end(), time,
                                     [](Duration wanted, const Step& step) { return wanted < step.time; });
  return next == steps.begin() ? 1 : std::prev(next)->unanswered;
}

std::optional<Duration> LatencyCurve::quantile(double quantile) const {
  if (answered + given_up == 0) return std::nullopt;
  for (const Step& step : steps) {
    if (1 - step.unanswered >= quantile) return step.time;
  }
  return LatencyModel::longer_than_known;
}

std::uint64_t LatencyModel::samples(Instant now) {
  turn(now);
  return current_.count() + before_.count();
}

void LatencyModel::forget() {
  current_.clear();
  before_.clear();
}

}  // namespace hedgerow::policy
