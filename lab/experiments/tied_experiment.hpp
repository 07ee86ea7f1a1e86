// `hedgerow-lab experiment tied`: the paper's tied reads, simulated (see tied.hpp for the model) and with leaf processes
// whose workers are held as long as the model's disks would be.
//
// Question: how much sooner are reads answered that wait in two queues at once, idle and beside other work?
// Expected: Table 2: idle 19/38/67/98 ms become 16/29/42/61 at p50/p90/p99/p99.9, busy 24/56/108/159 become 19/38/67/108,
// for less than 1 % more work.
// Source: "The Tail at Scale" (Dean and Barroso, 2013), Table 2.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

Experiment tied_experiment();

}  // namespace hedgerow::lab
