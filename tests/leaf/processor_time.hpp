// How much of a processor this process takes, for tests of what burns it.
#pragma once

#include <doctest/doctest.h>
#include <time.h>

#include "base/clock.hpp"
#include "leaf/processor_burner.hpp"

namespace hedgerow::leaf {

inline Duration processor_time(clockid_t clock) {
  timespec time{};
  REQUIRE(::clock_gettime(clock, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// What all threads but this one have taken.
inline Duration processor_time_of_others() {
  return processor_time(CLOCK_PROCESS_CPUTIME_ID) - processor_time(CLOCK_THREAD_CPUTIME_ID);
}

// No other thread takes any to speak of while this one burns 20 ms.
inline bool others_are_silent() {
  const Duration begin = processor_time_of_others();
  burn_processor(std::chrono::milliseconds(20), [] { return true; });
  return processor_time_of_others() - begin < std::chrono::milliseconds(2);
}

}  // namespace hedgerow::leaf
