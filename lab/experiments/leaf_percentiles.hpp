// `hedgerow-lab experiment leaf-percentiles`: the paper's Table 1, how long one leaf of a wide query takes, 95 % of them,
// and all.
//
// Question: what kind of leaves has a service whose lone requests take 1, 5 and 10 ms (p50, p95, p99), while queries wait
// 12, 32, 70 ms for 95 % of their leaves, and 40, 87, 140 ms for all? And do queries that our policies run over such
// leaves take as long?
// Expected: all nine figures, and that waiting for the last 5 % of the leaves is half of the 99th percentile.
// Source: "The Tail at Scale" (Dean and Barroso, 2013), Table 1. The models, and why the table's first row cannot be of the
// same requests as its second, are in percentile_model.hpp.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

Experiment leaf_percentiles_experiment();

}  // namespace hedgerow::lab
