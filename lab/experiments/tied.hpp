// The simulation behind `hedgerow-lab experiment tied`: Table 2 of "The Tail at Scale" (Dean and Barroso, 2013), with our policies and
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
#include "lab/experiments/experiment.hpp"
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

// One way to read, beside the paper's figures.
struct ReadRow {
  std::string name;
  LatencyRow measured_ms{}, paper_ms{};
  bool tied = false;
  double work_in_vain_percent = 0;
};
// Untied figures are the paper's within these shares of them, tied ones at most so much above the paper's, with less than
// 1 % of work in vain. how: "simulated".
std::vector<Finding> judge_reads(const std::vector<ReadRow>& rows, const std::string& how, const LatencyRow& by);

// The paper's Table 2, milliseconds.
constexpr LatencyRow paper_idle{19, 38, 67, 98}, paper_idle_tied{16, 29, 42, 61};
constexpr LatencyRow paper_busy{24, 56, 108, 159}, paper_busy_tied{19, 38, 67, 108};

struct TiedExperiment {
  TiedSettings settings;
  std::vector<ReadModelFit> fits;  // by number of phases
  ReadModelFit fit;                // the one that was simulated
  TiedRun idle, idle_tied, busy, busy_tied;

  std::vector<ReadRow> rows() const;
  std::vector<Finding> findings() const;
  nlohmann::json to_json() const;
};

// Preconditions: leaves >= replicas >= 2; the reads' share is below the idle cluster's utilisation.
TiedExperiment run_tied_experiment(const TiedSettings& settings);

}  // namespace hedgerow::lab
