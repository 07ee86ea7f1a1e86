#include "root/policy/cluster/recent_median.hpp"

#include <algorithm>
#include <bit>

namespace hedgerow::policy {

namespace {

// Halving stops where fewer than this would be left, in samples.
constexpr std::uint32_t kept = 8;
constexpr std::uint32_t most_weight = 48'000;  // of all together, so no bucket of 16 bits overflows

// Bucket i holds microseconds from lowest(i) to below lowest(i + 1); the first takes what is below 32.
constexpr std::size_t index_of(std::uint64_t microseconds) {
  if (microseconds < 32) return 0;
  const auto shift = static_cast<std::size_t>(std::bit_width(microseconds)) - 3;  // leaves 4 to 7
  return (shift - 3) * 4 + static_cast<std::size_t>(microseconds >> shift) - 4 + 1;
}

constexpr std::uint64_t lowest(std::size_t index) {
  if (index == 0) return 0;
  return (4 + (index - 1) % 4) << ((index - 1) / 4 + 3);
}

static_assert(index_of(31) == 0 && index_of(32) == 1 && index_of(39) == 1 && index_of(40) == 2 && index_of(64) == 5);
static_assert(lowest(1) == 32 && lowest(2) == 40 && lowest(5) == 64);

}  // namespace

void RecentMedian::halve() {
  weight_ = weight_given_up_ = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    answered_[i] = static_cast<std::uint16_t>(answered_[i] >> 1);
    weight_ += answered_[i];
  }
  if (std::all_of(given_up_.begin(), given_up_.end(), [](std::uint16_t count) { return count == 0; })) return;
  for (std::size_t i = 0; i < buckets; ++i) {
    given_up_[i] = static_cast<std::uint16_t>(given_up_[i] >> 1);
    weight_given_up_ += given_up_[i];
  }
  weight_ += weight_given_up_;
}

void RecentMedian::fade(Instant now) {
  if (now - heard_ >= longest_silence) {
    answered_.fill(0);
    given_up_.fill(0);
    weight_ = weight_given_up_ = 0;
    halved_ = now;
  }
  heard_ = now;
  while (now - halved_ >= half_life) {
    if (weight_ < 2 * kept * sample_weight) {
      halved_ = now;
    } else {
      halve();
      halved_ += half_life;
    }
  }
  if (weight_ >= most_weight) halve();
}

void RecentMedian::add(Counts& counts, Duration latency, Instant now) {
  fade(now);
  const auto microseconds = static_cast<std::uint64_t>(std::max<Duration::rep>(0, latency.count()) / 1000);
  const std::size_t index = std::min(index_of(microseconds), buckets - 1);
  counts[index] = static_cast<std::uint16_t>(counts[index] + sample_weight);
  weight_ += sample_weight;
}

std::optional<RecentMedian::Verdict> RecentMedian::verdict() const {
  if (weight_ < fewest * sample_weight) return std::nullopt;
  // As if spread evenly over the bucket.
  const auto within = [](std::size_t bucket, double part) {
    const double from = static_cast<double>(lowest(bucket)), to = static_cast<double>(lowest(bucket + 1));
    return Verdict{from_milliseconds((from + part * (to - from)) / 1000), false};
  };
  if (weight_given_up_ == 0) {
    std::uint32_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      const std::uint32_t until_half = (weight_ + 1) / 2 - seen;
      if (answered_[i] >= until_half) return within(i, static_cast<double>(until_half) / answered_[i]);
      seen += answered_[i];
    }
  }
  double at_risk = weight_, unanswered = 1;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    if (answered_[i] > 0) {
      longest = i;
      const double left = unanswered * (1 - answered_[i] / at_risk);
      if (left <= 0.5) return within(i, (unanswered - 0.5) / (unanswered - left));
      unanswered = left;
    }
    if (given_up_[i] > 0) longest = i;
    at_risk -= answered_[i] + given_up_[i];
  }
  return Verdict{std::chrono::microseconds(lowest(longest)), true};
}

}  // namespace hedgerow::policy
