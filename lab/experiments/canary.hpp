// `hedgerow-lab experiment canary`: a query that takes down every leaf that runs it, with canaries and without.
//
// Questions: how many leaves does a deadly query take down? What does a first-seen query pay for being tried on one leaf
// first, and a repeated one?
// Expected: two leaves at most with canaries, which then refuse it, and nobody else notices; without them all that it
// reaches. A first-seen query takes one leaf's time longer, as the canary's answer is used; a repeated one nothing.
// Source: "The Tail at Scale" (Dean and Barroso, 2013), "Canary requests" (a request is sent to one or two leaves first; no
// figures). With leaves that always take the same time the cost has a closed form: twice the time of one leaf and the way
// to it instead of once.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

Experiment canary_experiment();

}  // namespace hedgerow::lab
