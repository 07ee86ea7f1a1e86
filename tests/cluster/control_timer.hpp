// A timer that runs beside a measurement: how late its ticks come is how late the machine lets anything come.
//
// A thread of its own that waits for an instant every millisecond. What a query takes beyond its deadline is the
// software's, unless the control timer was late at the same time.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/clock.hpp"

namespace hedgerow::test {

class ControlTimer {
 public:
  ControlTimer();
  ~ControlTimer();
  ControlTimer(const ControlTimer&) = delete;
  ControlTimer& operator=(const ControlTimer&) = delete;

  // Of the ticks that were due in that time.
  Duration worst_lateness(Instant from, Instant to) const;
  // Over all ticks, sorted.
  std::vector<Duration> lateness() const;

 private:
  struct Tick {
    Instant due;
    Duration late;
  };
  mutable std::mutex mutex_;
  std::vector<Tick> ticks_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

// The value below which that share lies; values sorted, not empty.
template <class Value>
Value quantile(const std::vector<Value>& values, double share) {
  const auto place = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[place < values.size() ? place : values.size() - 1];
}

}  // namespace hedgerow::test
