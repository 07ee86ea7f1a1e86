// How long work takes at one worker that serves first come, first served, when it arrives by a Poisson process: the closed
// form that a simulated leaf is held against, and by which read_model is fitted. Pure.
//
// After Pollaczek and Khinchine: a piece of work waits for as many residual service times as a geometric draw says,
// Pr(N = n) = (1 - rho) rho^n, where rho is the utilisation and a residual service time has the density
// Pr(service > t) / mean. On a lattice of width h, with r_k the share of residual times at k h, the wait is k h with
//   w_0 = (1 - rho) / (1 - rho r_0),   w_k = rho (r_1 w_{k-1} + ... + r_k w_0) / (1 - rho r_0).
// Then comes the work's own service.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "lab/simulation/service_time.hpp"

namespace hedgerow::lab {

class SingleServerQueue {
 public:
  // Preconditions: 0 <= utilisation < 1. Beyond the horizon nothing is known; the lattice is a sixteenth of the mean
  // service time, and the cost the square of their ratio.
  SingleServerQueue(const simulation::ServiceTime& service, double utilisation, Duration horizon);

  // What this share of the work is done within, waiting and service; nullopt: longer than the horizon. 0 < share < 1.
  std::optional<Duration> quantile(double share) const;

 private:
  double step_;                 // nanoseconds
  std::vector<double> longer_;  // Pr(waiting and service > k step)
};

}  // namespace hedgerow::lab
