// How long it takes until an attempt or one of its hedges is answered, and then all partitions of a query: the closed forms
// behind every figure of an advice. Pure.
//
// Of one partition, hedged with probability q at the delays d1 < d2 < ... (as root/policy/cluster/hedge_planner has it,
// after Kaler, He and Elnikety, SPAA 2017), where of the slow attempts the share s is slow at every replica:
//   L(t) = S(t) · (1 - q (1 - s) + q (1 - s) · S(t - d1) · S(t - d2) ...)
// A slowness that replicas share makes hedges useless in that share of cases and no cheaper; so L(t) >= q s S(t), however
// many replicas there are. s is 0 where replicas are slow independently: then it is the planner's formula.
//
// Of a query that asks n partitions, k of which are enough: it is answered by t with the chance Pr(Bin(n, 1 - L(t)) >= k).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "lab/advise/attempt_tail.hpp"
#include "lab/advise/binomial.hpp"

namespace hedgerow::lab {

struct Hedges {
  std::vector<Duration> delays;  // rising; empty: none
  double probability = 1;
  double shared = 0;  // s
};

// after: Duration -> share, for instance of an AttemptTail.
template <class After>
double late_share_after(const Hedges& hedges, Duration t, const After& after) {
  double others = 1;
  for (const Duration delay : hedges.delays) others *= t < delay ? 1 : after(t - delay);
  const double useful = hedges.delays.empty() ? 0 : hedges.probability * (1 - hedges.shared);
  return after(t) * (1 - useful + useful * others);
}

// Hedges for each primary attempt: q · Σ Pr(nothing has answered by d_i).
template <class After>
double extra_attempts(const Hedges& hedges, const After& after) {
  double extra = 0;
  for (std::size_t i = 0; i < hedges.delays.size(); ++i) {
    double others = 1;
    for (std::size_t j = 0; j < i; ++j) others *= after(hedges.delays[i] - hedges.delays[j]);
    extra += after(hedges.delays[i]) * (hedges.shared + (1 - hedges.shared) * others);
  }
  return hedges.probability * extra;
}

// The smallest t from 0 to `longest` for which `holds`, which once true stays true; nullopt: for none.
template <class Holds>
std::optional<Duration> earliest_that(Duration longest, const Holds& holds) {
  if (!holds(longest)) return std::nullopt;
  Duration too_soon{-1}, enough = longest;
  while (enough - too_soon > Duration{1}) {
    const Duration middle = too_soon + (enough - too_soon) / 2;
    (holds(middle) ? enough : too_soon) = middle;
  }
  return enough;
}

// A time that samples tell of, and between which times it surely lies.
struct TimeEstimate {
  std::optional<Duration> time;     // nullopt: beyond what the samples tell
  Duration at_least{};
  std::optional<Duration> at_most;  // nullopt: they set no limit
};

// When no more than this share of partitions is late. confidence: of the interval, 0.95; of as many places of the tail as
// the formula looks at, each may err on either side with an equal part of the rest (Bonferroni), so the interval holds at
// least so often. It is that of these hedges, whoever chose them.
TimeEstimate time_until(const AttemptTail& tail, const Hedges& hedges, double late_share, double confidence);

struct ShareEstimate {
  double share = 0, least = 0, most = 0;
};
ShareEstimate extra_attempts_of(const AttemptTail& tail, const Hedges& hedges, double confidence);

// Of n partitions so many are needed for this completeness, one at least.
std::size_t needed_partitions(double completeness, std::size_t width);
// The share of partitions that may be late where this share of queries shall have so many of n.
double late_share_for(double query_quantile, std::size_t needed, std::size_t width);

}  // namespace hedgerow::lab
