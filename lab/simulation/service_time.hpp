// How long a piece of work takes, in a simulated world: a distribution of durations (base/distribution).
#pragma once

#include "base/distribution.hpp"

namespace hedgerow::lab::simulation {

using ServiceTime = Distribution;

}  // namespace hedgerow::lab::simulation
