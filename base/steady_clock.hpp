// What time it is: for the servers' event loops and worker threads alone. Policies are told (tests/layout holds it).
#pragma once

#include "base/clock.hpp"

namespace hedgerow {

inline Instant clock_now() { return std::chrono::steady_clock::now(); }

}  // namespace hedgerow
