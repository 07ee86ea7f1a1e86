// `hedgerow-lab experiment overload`: what hedging does as leaves become busy, and what is left of a cluster that is asked
// three times what it can do.
//
// Questions: from which load on does hedging harm, with a budget and brakes, and without? Does a cluster that was
// overloaded come back by itself, with hedging on?
// Expected: with a budget and brakes never; without, hedges are more work where there is no room for it, and queries wait
// longer than without hedging. Under overload goodput stays near the capacity, and when it is over, all is well within
// seconds.
// Source: our bars (traps that comparable systems fell into: hedging that halved throughput at high load; overload that
// outlives its cause: Bronson et al., "Metastable Failures in Distributed Systems", HotOS 2021). The paper says only that
// hedging after the 95th percentile limits the additional load to some 5 %.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

Experiment overload_experiment();

}  // namespace hedgerow::lab
