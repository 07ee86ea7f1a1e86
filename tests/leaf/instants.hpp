// Instants of tests that tell the time by hand.
#pragma once

#include "base/clock.hpp"

namespace hedgerow::leaf {

inline Instant at(Duration since_start) { return Instant{} + std::chrono::hours(100) + since_start; }

}  // namespace hedgerow::leaf
