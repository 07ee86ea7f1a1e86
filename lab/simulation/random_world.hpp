// A world drawn from a seed: any size, any load, any settings, everything that can go wrong. What the invariants are tried
// in, thousands of times. Pure.
#pragma once

#include <cstdint>

#include "lab/simulation/world.hpp"

namespace hedgerow::lab::simulation {

// The same seed and number of queries give the same world, on every machine.
WorldSettings random_world(std::uint64_t seed, std::uint64_t queries);

}  // namespace hedgerow::lab::simulation
