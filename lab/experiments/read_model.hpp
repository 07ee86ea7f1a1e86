// The leaf behind `experiment tied`: a disk that serves one read at a time, with parameters taken from the latencies that
// a paper printed of untied reads. Pure.
//
// A read is a sum of `phases` short pieces of exponential length (Erlang), as a seek, a rotation and a transfer add up, so
// that long reads are rare and long waits are not. Reads and all other work of a leaf are alike, arrive by a Poisson
// process, and are served first come, first served. An idle and a busy cluster differ in utilisation alone.
//
// The fit: four parameters (phases, mean, utilisation idle, utilisation busy) for eight figures. Every combination of a
// grid is tried; for each number of phases the one with the least sum of squares of log(model / printed) is returned. No
// tied figure goes in.
#pragma once

#include <array>
#include <vector>

#include "base/clock.hpp"
#include "lab/simulation/service_time.hpp"

namespace hedgerow::lab {

// Milliseconds, at each of table_shares.
using LatencyRow = std::array<double, 4>;
constexpr LatencyRow table_shares{0.5, 0.9, 0.99, 0.999};

struct ReadModel {
  int phases = 1;
  Duration mean{};
  double idle_utilisation = 0, busy_utilisation = 0;

  simulation::ServiceTime service() const;
};

struct ReadModelFit {
  ReadModel model;
  LatencyRow idle_ms{}, busy_ms{};  // by the closed form
  double root_mean_square = 0;      // of log(model / printed), over the eight
};

// One for each number of phases from 1 to 12. round_trip: to the leaf and back, which latencies include.
std::vector<ReadModelFit> fit_read_models(const LatencyRow& idle_ms, const LatencyRow& busy_ms, Duration round_trip);

// The one with the least error. Precondition: not empty.
const ReadModelFit& best_fit(const std::vector<ReadModelFit>& fits);

}  // namespace hedgerow::lab
