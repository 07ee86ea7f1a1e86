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
//
// The search: for a given q and a given division of the budget among the reissues, the best delay of each is the
// earliest that its part of the budget allows, since an earlier one makes both the tail and the cost of all later ones
// smaller. What is left is a search over q and the division alone: a coarse grid, then smaller and smaller steps from
// its best point. A few hundred trials of about a microsecond each.
//
// What the samples cannot tell: beyond the slowest of N nobody knows how much is left, so no share is held for smaller
// than 1/N. Products of several shares may be far smaller, which is why hedged quantiles are known well where unhedged
// ones are not.
#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::policy {

struct HedgePlan {
  std::vector<Duration> delays;  // rising, one for each further attempt; empty: none is sent
  double probability = 1;        // that a partition is hedged at all, once its delay is over
  // By this delay attempts are judged overdue or in time (see shared_slowness), whether any is hedged or not; 0: nothing
  // is known to judge by.
  Duration overdue_after{};
  // Of attempts that may be later than the target: as wished, or as little as the samples can tell of.
  double late_share = 0;
  // What is predicted of the target quantile of attempts, and of the extra attempts for each primary one.
  Duration with_hedges{};
  Duration without_hedges{};  // where the samples do not reach so far: as far as they do
  double extra_share = 0;
};

struct HedgeProblem {
  const LatencyCurve& first;    // of the attempts that may be hedged
  const LatencyCurve& further;  // of the attempts that may follow
  double late_share;            // of attempts that may be later than the target: 1 - Q^(1/n)
  double budget;                // extra attempts for each primary one
  std::size_t most_hedges;      // for one partition: its replicas less one
  Duration shortest_delay{};    // no hedge sooner than this
};

// Of n partitions that must all answer for the query to do so by its quantile Q: 1 - Q^(1/n).
double late_share(double query_quantile, std::size_t width);

// Without delays where none helps or is affordable. Never dearer than the budget, by the problem's own curves.
HedgePlan plan_hedges(const HedgeProblem& problem);

}  // namespace hedgerow::policy
