// What one kind of work took on the workers of late, and from that: whether the time that is left for a piece of it can
// be worth spending. Pure. Owned by the worker pool, under its lock.
//
// Intuition: in an overload the earliest deadline is always one that is about to pass. Who takes work in that order
// executes exactly what ends too late. So work is let go when so little time is left that
// executing it yields much less than executing it with more time would.
//
// Formula: with S the service time, work that has r left, and is stopped then, succeeds with P(S <= r) and occupies a
// worker for E[min(S, r)]: it yields y(r) = P(S <= r) / E[min(S, r)] answers per second of a worker. Time r is too little
// if y(r) < worth * max over t >= r of y(t). So in a standing overload goodput keeps at least the share `worth` of the
// best that any bound on r gives. Where short work is mixed with long, a short time suffices for the short, and y says
// so: nothing is let go that a plain quantile would give up.
//
// What was stopped (deadline, cancel) took at least so long: the distribution is the estimate of Kaplan and Meier (1958).
#pragma once

#include <array>
#include <cstddef>
#include <optional>

#include "base/clock.hpp"

namespace hedgerow::leaf {

class ServiceTimes {
 public:
  static constexpr std::size_t kept = 64;             // the latest
  static constexpr std::size_t least = 32;            // before so many nothing is too little
  static constexpr Duration fresh = std::chrono::seconds(2);  // and when there was none for so long
  static constexpr double worth = 0.7;
  static constexpr unsigned trial = 16;               // of what is too little, every so-many-th is executed all the same

  void add(Duration took, bool stopped, Instant now);

  // The mean of the latest; a millisecond before there are any.
  Duration mean() const;

  // Less time than this is too little; zero where nothing is known.
  Duration least_time(Instant now) const;

  // To be asked when such work is about to begin while other work waits for the worker. Every so-many-th time it is false
  // all the same: or else what has become faster would never be seen to be.
  bool too_little(Duration remaining, Instant now);

 private:
  struct Sample {
    Duration took{};
    bool stopped = false;
  };
  void solve() const;

  std::array<Sample, kept> samples_{};
  std::size_t count_ = 0;  // of all ever added
  Duration sum_{};         // of those kept
  Instant latest_{};
  unsigned let_go_ = 0;
  mutable std::optional<Duration> least_time_;  // solved when first asked for after a change
};

}  // namespace hedgerow::leaf
