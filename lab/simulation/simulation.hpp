// Runs a world from its first query until everything in it is over, and tells what was found.
//
// The policies are those of hedgerow-root, the work queue is that of hedgerow-leaf; time is a number. The same settings
// (the seed is one of them) give the same report, on every machine.
#pragma once

#include "lab/simulation/query_end.hpp"
#include "lab/simulation/report.hpp"
#include "lab/simulation/world.hpp"

namespace hedgerow::lab::simulation {

// Precondition: settings_error finds nothing. The observer is told of every query, in the order in which they end; it may
// be empty.
Report simulate(const WorldSettings& settings, const QueryObserver& observer = {});

// What in the settings makes no sense, in words; empty: nothing.
std::string settings_error(const WorldSettings& settings);

}  // namespace hedgerow::lab::simulation
