#include "lab/experiments/hedged_model.hpp"

#include <cmath>

namespace hedgerow::lab {

using simulation::ServiceTime;

namespace {

constexpr Duration longest_sought = std::chrono::seconds(5);

// The smallest duration from 0 to longest_sought for which `holds`, which once true stays true.
template <class Holds>
Duration smallest(Holds&& holds) {
  Duration low{0}, high = longest_sought;
  while (high - low > Duration(1000)) {
    const Duration middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

}  // namespace

ServiceTime hedged_experiment_latency() {
  return *ServiceTime::parse("pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s");
}

Duration hedged_quantile(const ServiceTime& latency, const std::vector<Duration>& delays, std::size_t asked, double share) {
  const double late_share = 1 - std::pow(share, 1 / static_cast<double>(asked));
  return smallest([&](Duration time) {
    double late = latency.longer_than(time);
    for (const Duration delay : delays) late *= latency.longer_than(time - delay);
    return late <= late_share;
  });
}

double hedged_extra(const ServiceTime& latency, const std::vector<Duration>& delays) {
  double extra = 0;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    double silent = latency.longer_than(delays[i]);
    for (std::size_t earlier = 0; earlier < i; ++earlier) silent *= latency.longer_than(delays[i] - delays[earlier]);
    extra += silent;
  }
  return extra;
}

std::vector<Duration> best_delays(const ServiceTime& latency, double budget, std::size_t asked, double share) {
  std::vector<Duration> best;
  Duration best_time = Duration::max();
  // The first from the soonest that the budget allows; the second as soon as the rest of the budget allows.
  const Duration soonest = smallest([&](Duration delay) { return latency.longer_than(delay) <= budget; });
  for (Duration first = soonest; first < soonest + std::chrono::milliseconds(60); first += std::chrono::microseconds(20)) {
    const Duration second = smallest([&](Duration delay) { return delay > first && hedged_extra(latency, {first, delay}) <= budget; });
    const Duration time = hedged_quantile(latency, {first, second}, asked, share);
    if (time < best_time) {
      best_time = time;
      best = {first, second};
    }
  }
  return best;
}

}  // namespace hedgerow::lab
