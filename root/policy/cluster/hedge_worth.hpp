// When a plan of hedges is worth following: what a root asks before it hedges, and `hedgerow-lab advise` before it advises
// anybody to. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace hedgerow::policy {

// Fewer latencies say too little to plan with.
constexpr std::uint64_t enough_to_plan = 200;

// Hedging that gains less is not worth its load.
constexpr double least_gain = 0.05;

// Hedging is worth it only if the target without hedges, which may not be known itself, comes after this time. Half of the
// shortest delay: where latencies are next to nothing, a twentieth of them is noise.
inline Duration worth_hedging_after(Duration with_hedges, Duration shortest_delay) {
  return std::max(with_hedges + shortest_delay / 2, from_milliseconds(to_milliseconds(with_hedges) * (1 + least_gain)));
}

}  // namespace hedgerow::policy
