#include "lab/experiment_command.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "lab/experiments/hedged.hpp"
#include "lab/experiments/tied.hpp"

namespace hedgerow::lab {

namespace {

template <class Experiment>
int show(const Experiment& experiment, bool as_json) {
  std::puts(as_json ? experiment.to_json().dump(2).c_str() : experiment.to_text().c_str());
  return experiment.agrees() ? 0 : 1;
}

}  // namespace

int run_experiment(const ExperimentSettings& settings) {
  if (!settings.simulated) {
    std::fprintf(stderr, "hedgerow-lab: this experiment runs in virtual time only: say --simulated\n");
    return 2;
  }
  if (settings.name == "hedged") {
    HedgedSettings hedged;
    hedged.seed = settings.seed;
    hedged.queries = settings.queries.value_or(hedged.queries);
    return show(run_hedged_experiment(hedged), settings.json);
  }
  TiedSettings tied;
  tied.seed = settings.seed;
  tied.reads = settings.queries.value_or(tied.reads);
  return show(run_tied_experiment(tied), settings.json);
}

}  // namespace hedgerow::lab
