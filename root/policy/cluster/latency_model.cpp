#include "root/policy/cluster/latency_model.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

// Microseconds up to a minute, within 1.6 %: 11 kB.
Histogram microseconds() { return Histogram(60'000'000, 6); }

std::uint64_t in_microseconds(Duration latency) {
  return static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count()) / 1000);
}

// The product-limit estimate of Kaplan and Meier.
std::optional<std::uint64_t> quantile_of(const Histogram& answered, const Histogram& given_up, double quantile) {
  const auto answers = answered.buckets(), ends = given_up.buckets();
  double at_risk = static_cast<double>(answered.count() + given_up.count());
  double unanswered = 1;
  auto end = ends.begin();
  for (const auto& bucket : answers) {
    for (; end != ends.end() && end->lowest < bucket.lowest; ++end) at_risk -= static_cast<double>(end->count);
    const auto count = static_cast<double>(bucket.count);
    unanswered *= 1 - count / at_risk;
    if (1 - unanswered >= quantile) return std::min(bucket.highest, answered.max());
    at_risk -= count;
  }
  return std::nullopt;
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
  current_.answered.record(in_microseconds(latency));
}

void LatencyModel::record_at_least(Duration latency, Instant now) {
  turn(now);
  current_.given_up.record(in_microseconds(latency));
}

std::optional<Duration> LatencyModel::quantile(double quantile, Instant now) {
  turn(now);
  if (current_.count() + before_.count() == 0) return std::nullopt;
  Histogram answered = current_.answered;
  answered.merge(before_.answered);
  if (current_.given_up.count() + before_.given_up.count() == 0) {
    return std::chrono::microseconds(answered.value_at_quantile(quantile));
  }
  Histogram given_up = current_.given_up;
  given_up.merge(before_.given_up);
  const auto microseconds = quantile_of(answered, given_up, quantile);
  return microseconds ? std::chrono::microseconds(*microseconds) : longer_than_known;
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
