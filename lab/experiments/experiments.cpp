#include "lab/experiments/experiments.hpp"

#include <algorithm>

#include "lab/experiments/amplification.hpp"
#include "lab/experiments/background.hpp"
#include "lab/experiments/canary.hpp"
#include "lab/experiments/classes.hpp"
#include "lab/experiments/good_enough.hpp"
#include "lab/experiments/hedged_experiment.hpp"
#include "lab/experiments/leaf_percentiles.hpp"
#include "lab/experiments/overload.hpp"
#include "lab/experiments/subsystems.hpp"
#include "lab/experiments/tied_experiment.hpp"

namespace hedgerow::lab {

const std::vector<Experiment>& experiments() {
  static const std::vector<Experiment> all{amplification_experiment(), leaf_percentiles_experiment(), hedged_experiment(),     tied_experiment(),
                                           canary_experiment(),        good_enough_experiment(),      background_experiment(), classes_experiment(),
                                           overload_experiment(),      subsystems_experiment()};
  return all;
}

const Experiment* find_experiment(std::string_view name) {
  const auto& all = experiments();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Experiment& experiment) { return experiment.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace hedgerow::lab
