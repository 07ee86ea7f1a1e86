// Processor time of the calling thread; in a header of its own, since it is a clock that only few may read.
#pragma once

#include <time.h>

#include "base/clock.hpp"

namespace hedgerow {

inline Duration thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace hedgerow
