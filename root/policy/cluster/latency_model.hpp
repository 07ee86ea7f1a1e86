// Recent latencies of one kind of work, and their quantiles. Pure.
//
// Intuition: what happened in the last seconds says what to expect of the next ones; what is older only misleads. Two
// histograms take turns: quantiles are read from the current window and the one before it, so memory is fixed and every
// sample is forgotten after two windows at the latest.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "base/histogram.hpp"

namespace hedgerow::policy {

class LatencyModel {
 public:
  explicit LatencyModel(Duration window = std::chrono::seconds(10));

  void record(Duration latency, Instant now);
  // nullopt: nothing recent to judge by.
  std::optional<Duration> quantile(double quantile, Instant now);
  std::uint64_t samples(Instant now);

 private:
  void turn(Instant now);

  Duration window_;
  std::optional<Instant> window_start_;
  Histogram current_, before_;
};

}  // namespace hedgerow::policy
