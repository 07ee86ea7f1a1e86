#include "base/histogram.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace hedgerow {

// Values below 2^(b+1) have a bucket each; every further power of two is cut into 2^b buckets of equal width.

Histogram::Histogram(std::uint64_t highest, int precision_bits)
    : precision_bits_(precision_bits), highest_(std::max<std::uint64_t>(highest, 1)) {
  assert(precision_bits >= 1 && precision_bits <= 14);
  counts_.resize(index_of(highest_) + 1);
}

std::size_t Histogram::index_of(std::uint64_t value) const {
  const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - 1 - precision_bits_);
  return (static_cast<std::size_t>(shift) << precision_bits_) + static_cast<std::size_t>(value >> shift);
}

std::uint64_t Histogram::lowest_of(std::size_t index) const {
  const std::size_t half = std::size_t{1} << precision_bits_;
  if (index < 2 * half) return index;
  const std::size_t shift = index / half - 1;
  return static_cast<std::uint64_t>(index - shift * half) << shift;
}

std::uint64_t Histogram::highest_of(std::size_t index) const { return lowest_of(index + 1) - 1; }

void Histogram::record(std::uint64_t value, std::uint64_t times) {
  if (times == 0) return;
  if (value > highest_) {
    overflowed_ += times;
    value = highest_;
  }
  counts_[index_of(value)] += times;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value) * static_cast<double>(times);
}

void Histogram::merge(const Histogram& other) {
  assert(other.precision_bits_ == precision_bits_ && other.counts_.size() == counts_.size());
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  overflowed_ += other.overflowed_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

void Histogram::clear() {
  std::fill(counts_.begin(), counts_.end(), 0);
  count_ = overflowed_ = max_ = 0;
  min_ = ~std::uint64_t{0};
  sum_ = 0;
}

double Histogram::mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

std::uint64_t Histogram::value_at_quantile(double quantile) const {
  if (count_ == 0) return 0;
  const double wanted = std::clamp(quantile, 0.0, 1.0) * static_cast<double>(count_);
  const auto rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(wanted)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(highest_of(i), min_, max_);
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> out;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) out.push_back({lowest_of(i), highest_of(i), counts_[i]});
  }
  return out;
}

}  // namespace hedgerow
