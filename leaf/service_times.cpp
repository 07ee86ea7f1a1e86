#include "leaf/service_times.hpp"

#include <algorithm>

namespace hedgerow::leaf {

void ServiceTimes::add(Duration took, bool stopped, Instant now) {
  Sample& place = samples_[count_ % kept];
  sum_ += took - place.took;
  place = {took, stopped};
  ++count_;
  latest_ = now;
  least_time_.reset();
}

Duration ServiceTimes::mean() const {
  if (count_ == 0) return std::chrono::milliseconds(1);
  return sum_ / static_cast<Duration::rep>(std::min(count_, kept));
}

Duration ServiceTimes::least_time(Instant now) const {
  if (count_ < least || now - latest_ > fresh) return Duration::zero();
  if (!least_time_) solve();
  return *least_time_;
}

bool ServiceTimes::too_little(Duration remaining, Instant now) {
  // The answer is never above the longest of those kept, nor that above their sum: mostly there is nothing to solve.
  if (remaining >= sum_ || remaining >= least_time(now)) return false;
  return ++let_go_ % trial != 0;
}

void ServiceTimes::solve() const {
  const std::size_t n = std::min(count_, kept);
  std::array<Sample, kept> sorted = samples_;
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n), [](const Sample& a, const Sample& b) {
    return a.took != b.took ? a.took < b.took : a.stopped < b.stopped;
  });
  // y at each sample: between two of them it falls, as only the worker's time grows.
  std::array<double, kept> yields{};
  double unfinished = 1, occupied = 0, before = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double took = to_seconds(std::max(sorted[i].took, Duration{1}));
    occupied += unfinished * (took - before);
    before = took;
    if (!sorted[i].stopped) unfinished *= 1 - 1 / static_cast<double>(n - i);
    yields[i] = (1 - unfinished) / occupied;
  }
  // From the end: the best yield that more time could give. The shortest time that is worth its while is the answer.
  double best = 0;
  Duration least_time{};
  for (std::size_t i = n; i-- > 0;) {
    best = std::max(best, yields[i]);
    if (best > 0 && yields[i] >= worth * best) least_time = sorted[i].took;
  }
  least_time_ = least_time;
}

}  // namespace hedgerow::leaf
