#include "root/policy/cluster/latency_model.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

// Microseconds up to a minute, within 1.6 %: 11 kB.
Histogram microseconds() { return Histogram(60'000'000, 6); }

}  // namespace

LatencyModel::LatencyModel(Duration window) : window_(window), current_(microseconds()), before_(microseconds()) {}

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
  current_.record(static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count()) / 1000));
}

std::optional<Duration> LatencyModel::quantile(double quantile, Instant now) {
  turn(now);
  if (current_.count() + before_.count() == 0) return std::nullopt;
  Histogram both = current_;
  both.merge(before_);
  return std::chrono::microseconds(both.value_at_quantile(quantile));
}

std::uint64_t LatencyModel::samples(Instant now) {
  turn(now);
  return current_.count() + before_.count();
}

}  // namespace hedgerow::policy
