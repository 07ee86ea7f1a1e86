// All experiments, in the order in which they are told.
#pragma once

#include <string_view>
#include <vector>

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

const std::vector<Experiment>& experiments();
// nullptr: there is none of this name.
const Experiment* find_experiment(std::string_view name);

}  // namespace hedgerow::lab
