// Faults of a simulation, as a JSON list: the words of the real leaf's faults (docs/operations.md), with when and where.
//
//   [{"kind": "late", "leaf": 3, "from": "10s", "until": "20s", "delay": "200ms", "probability": 0.5},
//    {"kind": "slow", "factor": 4, "from": "5s"}]
#pragma once

#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/simulation/world.hpp"

namespace hedgerow::lab::simulation {

// Errors: invalid_argument, with the place and the word at fault.
result<std::vector<Fault>> parse_faults(std::string_view json);

}  // namespace hedgerow::lab::simulation
