// A histogram of non-negative whole numbers in log-linear buckets, after HdrHistogram (Gil Tene): the relative error of
// every quantile is bounded, memory is fixed, recording is a few instructions, and histograms add up.
//
// Not thread-safe: each thread has its own, and they are merged when read.
#pragma once

#include <cstdint>
#include <vector>

namespace hedgerow {

class Histogram {
 public:
  // Values from 0 to at least highest are kept apart to within 2^-precision_bits of their size (10 bits: three digits);
  // larger ones are recorded as highest, and counted by overflowed(). 1 <= precision_bits <= 14.
  explicit Histogram(std::uint64_t highest, int precision_bits = 10);

  void record(std::uint64_t value, std::uint64_t times = 1);
  // Adds another histogram of the same shape.
  void merge(const Histogram& other);
  void clear();

  // As it was made.
  std::uint64_t highest() const { return highest_; }
  int precision_bits() const { return precision_bits_; }

  std::uint64_t count() const { return count_; }
  std::uint64_t overflowed() const { return overflowed_; }
  // The exact smallest and largest value recorded; 0 when empty.
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  double mean() const;

  // The smallest recorded value v (to the precision) such that at least quantile * count() values are <= v.
  // quantile is in [0, 1]; 0 when empty. Never above max().
  std::uint64_t value_at_quantile(double quantile) const;

  struct Bucket {
    std::uint64_t lowest;   // the smallest value that falls into this bucket
    std::uint64_t highest;  // the largest one
    std::uint64_t count;
  };
  // The buckets that hold anything, in rising order.
  std::vector<Bucket> buckets() const;

 private:
  std::size_t index_of(std::uint64_t value) const;
  std::uint64_t lowest_of(std::size_t index) const;
  std::uint64_t highest_of(std::size_t index) const;

  int precision_bits_;
  std::uint64_t highest_;
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace hedgerow
