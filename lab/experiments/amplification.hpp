// `hedgerow-lab experiment amplification`: how rare slowness of single leaves becomes usual slowness of queries.
//
// Question: if one request in a hundred is slow on a leaf, how many queries are slow that ask 1, 2, … 100 leaves and wait
// for all of them? And if it is one in 10,000, of those that ask 2,000?
// Expected: 63 % of queries of 100 leaves take longer than a second, and nearly one in five of those that ask 2,000 leaves
// at 1 in 10,000 (18 %).
// Source: "The Tail at Scale" (Dean and Barroso, 2013), "Variability amplified by scale", and its figure. The closed form is
// 1 - (1 - p)^n, as leaves are slow independently of each other.
#pragma once

#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

// Of queries that ask so many leaves, each slow with this probability: the share, in percent, that meet a slow one.
double slow_queries_percent(double slow, std::size_t leaves);

Experiment amplification_experiment();

}  // namespace hedgerow::lab
