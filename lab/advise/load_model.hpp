// How attempts wait at a higher load than the one they were measured at, so that the load can be found at which hedging
// turns harmful. Pure.
//
// A leaf is a queue, first come, first served, before c workers, with Poisson arrivals; its load rho is the share of the
// workers' time that is worked. For one worker the waiting time W follows Pollaczek and Khinchine:
//   E[e^-sW] = (1 - rho) / (1 - rho R(s)),   R of the residual service time, whose mean is E[G^2] / 2 E[G].
// From the ratio of two such transforms it follows that the wait at rho is the wait at a lower load u and, independent of
// it, a further one: none with the chance (1 - rho) / (1 - u), and otherwise distributed as a wait at rho that is not zero.
// So nothing of what was measured needs to be taken apart: what is added is all there is to know. That part is exact.
//
// - A wait that is not zero is taken as exponential, with the right mean E[R] / (1 - rho): exact for exponential service
//   and in heavy traffic (Kingman 1962); where service times vary much, its far tail is too thin.
// - E[G] and E[R] come from the measured latencies X and the load u alone. An attempt leaves nobody behind who came after
//   it with the chance 1 - u, so E[e^-lambda X] = 1 - u, which determines the arrival rate; E[G] = u / lambda, and the rest of E[X] is
//   the mean wait, u / (1 - u) · E[R]. At u = 0 all is service: E[R] = E[X^2] / 2 E[X].
// - Several workers: the chance of a wait is Erlang's C for exponential service, a positive wait has the mean
//   E[R] / (c (1 - rho)) (Lee and Longton 1959), and service varies, relatively, as the latencies do.
#pragma once

#include <cstddef>

#include "base/clock.hpp"
#include "lab/advise/attempt_tail.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::lab {

// The chance of a wait before c workers: Erlang's C. Precondition: 0 <= load < 1, workers >= 1.
double chance_of_waiting(std::size_t workers, double load);

class LoadModel {
 public:
  // load: at which the tail was measured. Preconditions: 0 <= load < 1, workers >= 1; single attempts were measured.
  LoadModel(const AttemptTail& tail, double load, std::size_t workers);

  double measured_load() const { return load_; }
  Duration mean_latency() const { return mean_; }
  Duration mean_service() const { return service_; }
  // Of what runs as somebody comes: how long it still takes, in the mean.
  Duration mean_residual() const { return residual_; }
  Duration mean_wait(double load) const;

  // The latencies of attempts at this load. Precondition: measured_load() <= load < 1.
  policy::LatencyCurve attempts_at(double load) const { return with_further_wait(measured_, load); }
  // Anything measured at the measured load, with the further wait at another: attempts, or whole queries whose partitions
  // wait alike.
  policy::LatencyCurve with_further_wait(const policy::LatencyCurve& curve, double load) const;
  const policy::LatencyCurve& measured() const { return measured_; }

 private:
  policy::LatencyCurve measured_;
  double load_;
  std::size_t workers_;
  Duration mean_, service_, residual_;
};

}  // namespace hedgerow::lab
