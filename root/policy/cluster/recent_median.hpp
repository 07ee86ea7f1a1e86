// The recent median of one leaf's latencies, in few bytes, for there may be thousands of leaves. Pure.
//
// Intuition: a leaf is judged by its ordinary attempts, not by its rare late ones, so a median is enough, and it need
// not be exact. Counts in buckets (four for each doubling) are halved from time to time: the old fades, but never so much
// that a leaf that is seldom asked has nothing left to be judged by.
//
// Work that was given up counts as in LatencyModel (Kaplan and Meier). Where so much was given up that half never
// answered, the longest time that anything lasted is a lower bound, and says so.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/clock.hpp"

namespace hedgerow::policy {

class RecentMedian {
 public:
  void record(Duration latency, Instant now) { add(answered_, latency, now); }
  void record_at_least(Duration latency, Instant now) {
    add(given_up_, latency, now);
    weight_given_up_ += sample_weight;
  }

  struct Verdict {
    Duration median{};
    bool at_least = false;  // the median is longer than this
  };
  // nullopt: fewer than fewest samples are left.
  std::optional<Verdict> verdict() const;

  static constexpr std::uint32_t fewest = 4;
  static constexpr Duration half_life = std::chrono::seconds(1);
  // Of a leaf unheard for so long nothing is known any more.
  static constexpr Duration longest_silence = std::chrono::seconds(60);

 private:
  // Four buckets for each doubling from 32 us to 67 s. A sample weighs 16, so that halving does not lose single ones.
  static constexpr std::size_t buckets = 88;
  static constexpr std::uint32_t sample_weight = 16;
  using Counts = std::array<std::uint16_t, buckets>;

  void add(Counts& counts, Duration latency, Instant now);
  void fade(Instant now);
  void halve();

  Instant halved_{};
  Instant heard_{};
  std::uint32_t weight_ = 0, weight_given_up_ = 0;  // weight_: of both
  Counts answered_{}, given_up_{};
};

}  // namespace hedgerow::policy
