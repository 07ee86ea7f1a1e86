// Latencies for tests of advice: of a formula as exact as wished, or drawn.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "lab/latency_counts.hpp"

namespace hedgerow::lab {

inline LatencyCounts single_samples(const std::vector<std::pair<Duration, std::uint64_t>>& samples) {
  std::vector<LatencyCounts::Bucket> buckets;
  for (const auto& [time, count] : samples) buckets.push_back({time, time, count});
  return LatencyCounts(std::move(buckets));
}

// So many, each standing for an equal share. quantile: share -> Duration.
template <class Quantile>
LatencyCounts exact_samples(std::uint64_t count, const Quantile& quantile) {
  std::vector<LatencyCounts::Bucket> buckets;
  buckets.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration time = quantile((static_cast<double>(i) + 0.5) / static_cast<double>(count));
    buckets.push_back({time, time, 1});
  }
  return LatencyCounts(std::move(buckets));
}

inline LatencyCounts drawn_exponential(std::uint64_t count, double mean_ms, Random& random) {
  std::vector<LatencyCounts::Bucket> buckets;
  buckets.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Duration time = from_milliseconds(random.exponential(mean_ms));
    buckets.push_back({time, time, 1});
  }
  return LatencyCounts(std::move(buckets));
}

}  // namespace hedgerow::lab
