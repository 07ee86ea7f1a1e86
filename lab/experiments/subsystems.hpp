// `hedgerow-lab experiment subsystems`: a slow optional subsystem must not slow the search.
//
// Question: what becomes of queries' latency when spelling, which an answer can do without, takes 300 ms?
// Expected: nothing. It is skipped, or given up when the hits are there; an answer waits for it at most 5 ms, and in vain
// for at most a quarter of a per cent of the answers (and one in twenty seconds), so the 99th percentile is hardly that of
// 99.25 % without spelling.
// Source: "The Tail at Scale" (Dean and Barroso, 2013), "Good enough": web search skips spelling and its like where they do
// not respond in time (no figures). The bound follows from the ration of waits in vain, whatever the model believes: with a
// share v of answers that wait in vain, Pr(T > t) <= Pr(T without > t) + v.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

// The share of answers that may wait in vain, of so many in this time.
double waits_in_vain(double queries, double seconds);

Experiment subsystems_experiment();

}  // namespace hedgerow::lab
