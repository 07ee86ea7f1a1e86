// The leaves of the paper's example of hedged requests, and what hedging makes of a query that waits for many of them: a
// closed form, since nothing queues and all latencies are independent. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.hpp"
#include "lab/simulation/service_time.hpp"

namespace hedgerow::lab {

// The latency of an attempt.
simulation::ServiceTime hedged_experiment_latency();

// The time within which the given share of queries is answered that ask `partitions` at once, all of which must answer:
// with further attempts at these delays (rising), each at another leaf. With S(t) the share of attempts longer than t,
//   S(t) S(t - d1) S(t - d2) … = 1 - share^(1 / partitions),   for S(t) = 1 before t = 0.
Duration hedged_quantile(const simulation::ServiceTime& latency, const std::vector<Duration>& delays, std::size_t partitions,
                         double share);
// What these hedges cost: S(d1) + S(d2) S(d2 - d1) + …
double hedged_extra(const simulation::ServiceTime& latency, const std::vector<Duration>& delays);
// The best two delays within this many extra attempts.
std::vector<Duration> best_delays(const simulation::ServiceTime& latency, double budget, std::size_t partitions, double share);

}  // namespace hedgerow::lab
