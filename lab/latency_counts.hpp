// Latencies and how often each was seen, wherever they come from: single samples, or the buckets of some histogram, as
// fine as those were. What files of latencies are read into, and what advice is given on.
//
// A plain value, copied freely. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"

namespace hedgerow::lab {

class LatencyCounts {
 public:
  // So many between the two, both included; a single sample is a bucket of no width. Negative times are 0.
  struct Bucket {
    Duration lowest{}, highest{};
    std::uint64_t count = 0;

    Duration middle() const { return lowest + (highest - lowest) / 2; }
    friend bool operator==(const Bucket&, const Bucket&) = default;
  };

  LatencyCounts() = default;
  // In any order; equal ones become one, those without a count none.
  explicit LatencyCounts(std::vector<Bucket> buckets);
  // Of nanoseconds.
  static LatencyCounts of(const Histogram& histogram);

  // In rising order of `lowest`, then of `highest`.
  const std::vector<Bucket>& buckets() const { return buckets_; }
  std::uint64_t count() const { return count_; }
  // The ends of the outermost buckets; 0 where there is nothing.
  Duration shortest() const;
  Duration longest() const;
  Duration mean() const;

  // The smallest latency within which at least quantile * count() of them lie, in [0, 1]; within a bucket as if its own
  // were spread evenly over it. 0 where there is nothing.
  Duration at_quantile(double quantile) const;
  // The n-th smallest, 1 <= n <= count(): an order statistic, placed in its bucket in the same way.
  Duration nth(std::uint64_t n) const;

  // In a histogram's unit: whole microseconds for the policies' models. Every bucket counts at its middle.
  Histogram to_histogram(Duration unit, Duration highest) const;

 private:
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> up_to_;  // the counts of all buckets so far, this one included
  std::uint64_t count_ = 0;
};

}  // namespace hedgerow::lab
