#include "lab/experiments/single_server_queue.hpp"

#include <cassert>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace hedgerow::lab {

namespace {

constexpr double points_a_mean = 16;

Duration nanoseconds(double count) { return Duration{static_cast<Duration::rep>(std::llround(count))}; }

}  // namespace

SingleServerQueue::SingleServerQueue(const simulation::ServiceTime& service, double utilisation, Duration horizon)
    : step_(service.mean_seconds() * 1e9 / points_a_mean) {
  assert(utilisation >= 0 && utilisation < 1);
  const auto points = static_cast<std::size_t>(std::ceil(static_cast<double>(horizon.count()) / step_)) + 1;

  const auto longer_than = [&](double points_long) { return service.longer_than(nanoseconds(points_long * step_)); };
  std::vector<double> service_longer(points);
  // A jump at a point counts half, as the waits of either side share it.
  for (std::size_t k = 0; k < points; ++k) {
    const Duration at = nanoseconds(static_cast<double>(k) * step_);
    service_longer[k] = (service.longer_than(at - Duration{1}) + service.longer_than(at + Duration{1})) / 2;
  }

  // Each cell's share of the residual times (by Gauss's two points, which err by the fifth power of the step and stand
  // jumps between cells) goes to its two ends by halves: that keeps their mean.
  constexpr double before_middle = 0.5 - 0.5 / std::numbers::sqrt3;
  std::vector<double> residual(points + 1);
  for (std::size_t k = 0; k < points; ++k) {
    const double begin = static_cast<double>(k), end = begin + 1;
    const double share = (longer_than(begin + before_middle) + longer_than(end - before_middle)) / 2 / points_a_mean;
    residual[k] += share / 2;
    residual[k + 1] += share / 2;
  }

  std::vector<double> wait(points);
  const double scale = 1 / (1 - utilisation * residual[0]);
  wait[0] = (1 - utilisation) * scale;
  for (std::size_t k = 1; k < points; ++k) {
    double sum = 0;
    for (std::size_t j = 1; j <= k; ++j) sum += residual[j] * wait[k - j];
    wait[k] = utilisation * sum * scale;
  }

  longer_.resize(points);
  double wait_longer = 1;
  for (std::size_t k = 0; k < points; ++k) {
    wait_longer -= wait[k];
    longer_[k] = wait_longer;
    for (std::size_t j = 0; j <= k; ++j) longer_[k] += wait[j] * service_longer[k - j];
  }
}

std::optional<Duration> SingleServerQueue::quantile(double share) const {
  const double beyond = 1 - share;
  for (std::size_t k = 1; k < longer_.size(); ++k) {
    if (longer_[k] > beyond) continue;
    // Between two points the tail falls about exponentially.
    const double into = longer_[k] <= 0 ? 1 : std::log(longer_[k - 1] / beyond) / std::log(longer_[k - 1] / longer_[k]);
    return nanoseconds((static_cast<double>(k - 1) + into) * step_);
  }
  return std::nullopt;
}

}  // namespace hedgerow::lab
