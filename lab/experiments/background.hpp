// `hedgerow-lab experiment background`: upkeep of all leaves at the same moments, or of each at a moment of its own.
//
// Question: every leaf does some upkeep for a short while now and then, and begins no other work meanwhile. Is it better
// when all leaves do it at the same time, or when it is spread evenly?
// Expected: together. Aligned, only the queries of that short while are slow; staggered, there is hardly ever a moment at
// which no leaf is busy with it, and a query waits for all leaves.
// Source: "The Tail at Scale" (Dean and Barroso, 2013), "Managing background activities and synchronized disruption" (which
// gives no figures); the closed form below.
//
// With upkeep of length L in every period P, on n leaves whose phases are P/n apart (n = 1: aligned), a query of all leaves
// waits for more than r with the probability min(1, n (L - r) / P), for 0 <= r < L: it waits for the upkeep that began last.
#pragma once

#include "base/clock.hpp"
#include "lab/experiments/experiment.hpp"

namespace hedgerow::lab {

struct UpkeepModel {
  Duration period, length;
  std::size_t phases;  // 1: aligned; else as many as leaves
};
// The share of queries that wait for upkeep longer than this.
double waits_longer(const UpkeepModel& model, Duration wait);
// What a share of the queries waits at most.
Duration upkeep_wait(const UpkeepModel& model, double share);

Experiment background_experiment();

}  // namespace hedgerow::lab
