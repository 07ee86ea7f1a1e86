// Recent latencies of one kind of work, and their quantiles. Pure.
//
// Intuition: what happened in the last seconds says what to expect of the next ones; what is older only misleads. Two
// histograms take turns: quantiles are read from the current window and the one before it, so memory is fixed and every
// sample is forgotten after two windows at the latest.
//
// Of work that was given up nobody knows how long it would have taken, only that it took at least so long. Leaving such
// samples out would make the slow look fast; their weight goes to what is longer than they are (Kaplan and Meier,
// 1958: with F the share that is still unanswered, each answer after t of those n that lasted at least t makes it
// F (1 - 1/n)).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"

namespace hedgerow::policy {

// Which share is still unanswered after which time, by Kaplan and Meier.
struct LatencyCurve {
  struct Step {
    Duration time;
    double unanswered;
  };
  std::vector<Step> steps;  // in rising order of time
  std::uint64_t answered = 0, given_up = 0;

  double unanswered_after(Duration time) const;
  // As LatencyModel's.
  std::optional<Duration> quantile(double quantile) const;
};

// Of work that was answered, and given up, after so many microseconds. Where nearly all that would have lasted long was
// given up early, the few that are left tell hardly anything: when the last of them is answered, nobody would seem to be
// left. So steps end where fewer than fewest_left lasted so long and most that would have were given up.
LatencyCurve kaplan_meier(const Histogram& answered, const Histogram& given_up, double fewest_left = 0);

class LatencyModel {
 public:
  explicit LatencyModel(Duration window = std::chrono::seconds(10));

  void record(Duration latency, Instant now);
  // It was given up after so long.
  void record_at_least(Duration latency, Instant now);
  // nullopt: nothing recent to judge by. longer_than_known: so much was given up that no answer tells.
  static constexpr Duration longer_than_known = Duration::max();
  std::optional<Duration> quantile(double quantile, Instant now);
  LatencyCurve curve(Instant now);
  std::uint64_t samples(Instant now);
  void forget();

 private:
  // What ended within one window: answered after so long, and given up after so long.
  struct Window {
    Window();
    std::uint64_t count() const { return answered.count() + given_up.count(); }
    void clear();
    Histogram answered, given_up;
  };
  void turn(Instant now);

  Duration window_;
  std::optional<Instant> window_start_;
  Window current_, before_;
};

}  // namespace hedgerow::policy
