// From which load on hedging makes things worse: what it takes from the leaves then delays everyone by more than it gains
// (pegasus#251; Vulimiri et al., "Low latency via redundancy", CoNEXT 2013, for copies of everything; Primorac et al.,
// "When to hedge in interactive services", NSDI 2021). Pure.
//
// At a load rho without hedges, hedges of a share e of the attempts make it rho (1 + e): a loser is taken to be worked on
// to its end, as it is where nothing is cancelled. At each load the planner plans anew, for the latencies that there are
// with the hedges; harmful is where the target comes later so than at rho without hedges. Leaves that stop losers at once
// bear more. Delays that are to be judged stay as they are, and then nothing bounds what hedges cost: the slower everything
// is, the more are sent, and they make it slower; e is what that settles at, if it does.
//
// How waits at two replicas go together is not in the samples, so there are two answers, and the truth lies between:
// - independent: many queries share the leaves, and each asks a few of them; an attempt that waits long is then saved by
//   a replica where nobody waits.
// - alike: every query asks all leaves, so all have the same queue, and a hedge waits as long as what it was to save; then
//   hedging only helps against slow service, and waiting comes on top.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.hpp"
#include "lab/advise/load_model.hpp"

namespace hedgerow::lab {

struct HedgingWish {
  std::size_t width = 1;
  std::size_t most_hedges = 2;
  double late_share = 0.001;  // of partitions, at the target
  double budget = 0.05;
  Duration shortest_delay{};
  double shared = 0;  // of hedged_tail
  std::vector<Duration> delays = {};  // to be judged; empty: the best at each load
};

struct LoadPoint {
  double load = 0;         // without hedges
  double hedged_load = 0;  // and with; 1: they could not keep up
  Duration without{};      // the target, where waits are independent
  Duration with{};         // Duration::max(): they could not keep up
  Duration without_alike{}, with_alike{};  // where they are alike
};

struct HarmfulLoad {
  // Of queries: the target is compared at, which is where the samples still tell.
  double quantile = 0;
  std::vector<LoadPoint> points;  // rising, from the measured load on
  // From these loads on it is harmful. Never above `full`. If already at the measured load, that.
  double independent = 1, alike = 1;
  // From here on the leaves could not keep up: with the whole budget spent, or with the delays to be judged.
  double full = 1;
};

LoadPoint hedged_at(const LoadModel& model, const HedgingWish& wish, double load);

// wish.late_share is raised to what the samples can tell of.
HarmfulLoad find_harmful_load(const LoadModel& model, HedgingWish wish);

}  // namespace hedgerow::lab
