// Waiting for events of other processes, with a limit; and how much slower this build is than a release build.
//
// A condition is looked at again after a short pause, not in a busy loop: the processes under test share the cores.
#pragma once

#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "base/steady_clock.hpp"

namespace hedgerow::test {

#if defined(__SANITIZE_THREAD__)
constexpr int time_factor = 10;
#elif defined(__SANITIZE_ADDRESS__)
constexpr int time_factor = 4;
#else
constexpr int time_factor = 1;
#endif
constexpr bool under_sanitizer = time_factor > 1;

// For limits, which are generous; never for times that a law is about.
constexpr Duration scaled(Duration limit) { return limit * time_factor; }

// True as soon as the condition is; false when it is not within the limit (which is scaled).
template <class Condition>
bool eventually(Duration limit, Condition condition) {
  const Instant give_up = clock_now() + scaled(limit);
  while (true) {
    if (condition()) return true;
    if (clock_now() >= give_up) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace hedgerow::test
