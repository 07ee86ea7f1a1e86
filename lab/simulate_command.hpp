// `hedgerow-lab simulate`: one world as the command line describes it, or many drawn from seeds, to try the invariants.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lab/simulation/world.hpp"

namespace hedgerow::lab {

// Words are read when the command runs, by the rules of docs/operations.md.
struct SimulateSettings {
  simulation::WorldSettings world;
  std::string service = "lognormal:5ms,0.5", network = "constant:100us";
  std::string hedge = "auto", tied = "off", replica_choice = "prequal", service_class = "interactive";
  std::string slow_periods, shared_slow_periods;  // EVERY,LASTING,FACTOR
  std::string upkeep;                             // PERIOD,LENGTH,aligned|staggered
  std::string admission = "off", canaries = "off";
  std::string background_service;                 // none: the same as that of the queries
  std::filesystem::path faults;
  // So many worlds, of the seeds from world.seed on, each drawn from its seed; of the rest, only --queries counts.
  std::uint64_t random_worlds = 0;
  bool json = false;
};

// Returns the exit status: 0 every invariant held, 1 one was broken (the command that shows it again is printed), 2 the
// settings make no sense.
int run_simulate(SimulateSettings settings);

}  // namespace hedgerow::lab
