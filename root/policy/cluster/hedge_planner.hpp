// When to hedge, and how often, for a given budget: the search for the best delays. Pure.
//
// After "Optimal Reissue Policies for Reducing Tail Latency" (Kaler, He, Elnikety, SPAA 2017): an attempt that has been
// outstanding for the delay d is asked of another replica with probability q. With X the first and Y the second latency,
//   Pr(T > t) = Pr(X > t) · (1 - q · Pr(Y <= t - d)),   at the cost of q · Pr(X > d) further attempts.
// Extended to several reissues at d1 < d2 < ..., each asked only while nothing has answered:
//   Pr(T > t) = Pr(X > t) · (1 - q + q · Pr(Y > t - d1) · Pr(Z > t - d2) ...),
//   cost q · (Pr(X > d1) + Pr(X > d2) · Pr(Y > d2 - d1) + ...).
// What is minimised is the query's target quantile: over a fan-out of n partitions, all of which must answer, the share
// of attempts that may be later than t is 1 - Q^(1/n).
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::policy {

struct HedgePlan {
  std::vector<Duration> delays;  // rising, one for each further attempt; empty: none is sent
  double probability = 1;        // that a partition is hedged at all, once its delay is over
  // What is predicted of the target quantile of attempts, and of the extra attempts for each primary one.
  Duration with_hedges{};
  Duration without_hedges{};
  double extra_share = 0;
};

struct HedgeProblem {
  const LatencyCurve& first;    // of the attempts that may be hedged: all of them
  const LatencyCurve& further;  // of the attempts that may follow: those of healthy leaves
  double late_share;            // of attempts that may be later than the target: 1 - Q^(1/n)
  double budget;                // extra attempts for each primary one
  std::size_t most_hedges;      // for one partition: its replicas less one
  Duration shortest_delay{};    // no hedge sooner than this
};

HedgePlan plan_hedges(const HedgeProblem& problem);

}  // namespace hedgerow::policy
