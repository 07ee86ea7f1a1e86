// `hedgerow-lab experiment tied --simulated`: Table 2 of "The Tail at Scale" (Dean and Barroso, 2013), with our policies and
// our work queue in virtual time.
//
// The paper read from a store of disks, in a mostly idle cluster and beside a large sort, untied and tied after 1 ms. Here
// the leaves are those of read_model, fitted to the untied figures alone: small reads of one partition each, at a replica
// chosen at random, which take a small share of every leaf's time in both clusters; the rest of the utilisation is other
// work that is not tied, and that is all in which idle and busy differ. The tied figures are what comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "lab/experiments/read_model.hpp"

namespace hedgerow::lab {

struct TiedSettings {
  std::uint64_t seed = 1;
  std::uint64_t reads = 1'000'000;  // measured, in each of the four runs
  std::size_t leaves = 100;
  std::size_t replicas = 3;
  // Of each leaf's time, by the reads. The untied figures do not depend on it: it is no parameter of the fit.
  double read_utilisation = 0.05;
  Duration one_way = std::chrono::microseconds(250);  // the second copy leaves after two
};

struct TiedRun {
  LatencyRow latency_ms{};
  double extra_work = 0;         // executed for nothing, for each second of reads that were of use
  double extra_of_all_work = 0;  // and for each second that the leaves worked at all, the other work included
  double both_began = 0;         // of the reads
  double utilisation = 0;
  std::uint64_t violated = 0;    // invariants of the simulator
};

struct TiedExperiment {
  TiedSettings settings;
  std::vector<ReadModelFit> fits;  // by number of phases
  ReadModelFit fit;                // the one that was simulated
  TiedRun idle, idle_tied, busy, busy_tied;

  // Where it does not show what the paper shows, in words: an untied figure that is not the paper's within 10 %, a tied one
  // that is more than 10 % above the paper's, 1 % of extra work, a broken invariant. Empty: it agrees.
  std::vector<std::string> disagreements() const;
  bool agrees() const { return disagreements().empty(); }
  nlohmann::json to_json() const;
  std::string to_text() const;
};

// Preconditions: leaves >= replicas >= 2; the reads' share is below the idle cluster's utilisation.
TiedExperiment run_tied_experiment(const TiedSettings& settings);

}  // namespace hedgerow::lab
