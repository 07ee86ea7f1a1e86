#include "lab/latency_counts.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <tuple>

namespace hedgerow::lab {

namespace {

Duration duration_of(std::uint64_t value) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Duration::rep>::max());
  return Duration(static_cast<Duration::rep>(std::min(value, most)));
}

}  // namespace

LatencyCounts::LatencyCounts(std::vector<Bucket> buckets) : buckets_(std::move(buckets)) {
  std::erase_if(buckets_, [](const Bucket& bucket) { return bucket.count == 0; });
  for (auto& bucket : buckets_) {
    bucket.lowest = std::max(bucket.lowest, Duration::zero());
    bucket.highest = std::max(bucket.highest, bucket.lowest);
  }
  std::sort(buckets_.begin(), buckets_.end(),
            [](const Bucket& a, const Bucket& b) { return std::tie(a.lowest, a.highest) < std::tie(b.lowest, b.highest); });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const bool same = kept > 0 && buckets_[kept - 1].lowest == buckets_[i].lowest && buckets_[kept - 1].highest == buckets_[i].highest;
    if (same) {
      buckets_[kept - 1].count += buckets_[i].count;
    } else {
      buckets_[kept++] = buckets_[i];
    }
  }
  buckets_.resize(kept);
  up_to_.reserve(kept);
  for (const auto& bucket : buckets_) up_to_.push_back(count_ += bucket.count);
}

LatencyCounts LatencyCounts::of(const Histogram& histogram) {
  std::vector<Bucket> buckets;
  for (const auto& [lowest, highest, count] : histogram.buckets()) {
    // What was recorded is known exactly at both ends.
    buckets.push_back({duration_of(std::max(lowest, histogram.min())), duration_of(std::min(highest, histogram.max())), count});
  }
  return LatencyCounts(std::move(buckets));
}

Duration LatencyCounts::shortest() const { return buckets_.empty() ? Duration::zero() : buckets_.front().lowest; }

Duration LatencyCounts::longest() const {
  Duration longest{};
  for (const auto& bucket : buckets_) longest = std::max(longest, bucket.highest);
  return longest;
}

Duration LatencyCounts::mean() const {
  if (count_ == 0) return Duration::zero();
  double sum = 0;
  for (const auto& bucket : buckets_) sum += static_cast<double>(bucket.middle().count()) * static_cast<double>(bucket.count);
  return Duration(static_cast<Duration::rep>(sum / static_cast<double>(count_)));
}

Duration LatencyCounts::at_quantile(double quantile) const {
  if (count_ == 0) return Duration::zero();
  const double wanted = std::ceil(std::clamp(quantile, 0.0, 1.0) * static_cast<double>(count_));
  return nth(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_));
}

Duration LatencyCounts::nth(std::uint64_t n) const {
  assert(n >= 1 && n <= count_);
  const auto place = static_cast<std::size_t>(std::lower_bound(up_to_.begin(), up_to_.end(), n) - up_to_.begin());
  const Bucket& bucket = buckets_[place];
  const std::uint64_t within = n - (up_to_[place] - bucket.count);  // 1 … count
  const double share = (static_cast<double>(within) - 0.5) / static_cast<double>(bucket.count);
  return bucket.lowest + Duration(static_cast<Duration::rep>(share * static_cast<double>((bucket.highest - bucket.lowest).count())));
}

Histogram LatencyCounts::to_histogram(Duration unit, Duration highest) const {
  assert(unit > Duration::zero());
  Histogram histogram(static_cast<std::uint64_t>(highest / unit));
  for (const auto& bucket : buckets_) {
    histogram.record(static_cast<std::uint64_t>((bucket.middle() + unit / 2) / unit), bucket.count);
  }
  return histogram;
}

}  // namespace hedgerow::lab
