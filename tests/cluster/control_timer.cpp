#include "control_timer.hpp"

#include <algorithm>

#include "waiting.hpp"

namespace hedgerow::test {

ControlTimer::ControlTimer() {
  thread_ = std::thread([this] {
    Instant due = clock_now();
    while (!stopping_) {
      due = std::max(due + std::chrono::milliseconds(1), clock_now());
      std::this_thread::sleep_until(due);
      const Duration late = clock_now() - due;
      const std::lock_guard lock(mutex_);
      ticks_.push_back({due, late});
    }
  });
}

ControlTimer::~ControlTimer() {
  stopping_ = true;
  thread_.join();
}

Duration ControlTimer::worst_lateness(Instant from, Instant to) const {
  const std::lock_guard lock(mutex_);
  Duration worst{};
  auto tick = std::partition_point(ticks_.begin(), ticks_.end(), [&](const Tick& t) { return t.due + t.late < from; });
  for (; tick != ticks_.end() && tick->due <= to; ++tick) worst = std::max(worst, tick->late);
  return worst;
}

std::vector<Duration> ControlTimer::lateness() const {
  std::vector<Duration> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& tick : ticks_) all.push_back(tick.late);
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace hedgerow::test
