// How long attempts take, as far as samples tell: the share that takes longer than t, and between which shares it surely
// lies. What advice is computed from. Pure.
//
// The estimate is Kaplan and Meier's (1958), as the root's: an attempt that was given up after c took longer than c, and
// nobody knows by how much. Its certainty is that of so many independent trials as Greenwood's variance speaks for
// (Rothman 1978: n' = S (1 - S) / Var S; where nothing was given up, the samples themselves), by Clopper and Pearson's
// exact binomial limits (1934). For plain samples the limits of a quantile that follow are the distribution-free ones of
// order statistics.
//
// Where only whole queries were measured, each of which asked n partitions and waited for all, one query tells of n
// attempts at once: S = 1 - (1 - S_query)^(1/n), if slowness strikes attempts independently.
//
// 1. No share is held for smaller than one of the samples: beyond the slowest nobody knows how much is left.
// 2. Estimates err on the slow side: a bucket's latencies are spread over it and count at the later end of their part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "lab/latency_counts.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::lab {

class AttemptTail {
 public:
  // partitions: 1 where single attempts were measured; n where whole queries over n partitions were.
  // Precondition: something was answered.
  AttemptTail(const LatencyCounts& latencies, const LatencyCounts& given_up, std::size_t partitions = 1);

  // Of what was measured: attempts, or queries.
  std::uint64_t answered() const { return answered_; }
  std::uint64_t samples() const { return answered_ + given_up_; }
  std::size_t partitions() const { return partitions_; }

  // Pr(an attempt takes longer than t); 1 before 0.
  double after(Duration t) const;
  // Never estimated smaller than this.
  double smallest() const { return smallest_; }
  // Beyond this time nothing is known.
  Duration last() const { return steps_.empty() ? Duration{} : steps_.back().time; }
  // The smallest t after which no more than this share is left; nullopt: the samples do not reach so far.
  std::optional<Duration> earliest(double share) const;

  struct Limits {
    double least = 0, most = 1;
  };
  // Pr(X > t) lies in between but for this error on either side.
  Limits limits(Duration t, double error) const { return {least_after(t, error), most_after(t, error)}; }
  double least_after(Duration t, double error) const;
  double most_after(Duration t, double error) const;

  // For the planner: the root's own form.
  policy::LatencyCurve curve() const;

  // Two tails, of two halves of the samples that are drawn by chance: what one half suggests, the other can judge.
  struct Halves;
  static Halves halves(const LatencyCounts& latencies, const LatencyCounts& given_up, std::size_t partitions, std::uint64_t seed);

 private:
  // From this time on, until the next step.
  struct Step {
    Duration time;
    double left;      // of what was measured
    double attempts;  // of attempts: the same, or by the formula above
    double trials;    // n'
  };
  const Step* step_at(Duration t) const;
  double of_attempts(double left) const;

  std::size_t partitions_;
  std::uint64_t answered_, given_up_;
  double smallest_;
  std::vector<Step> steps_;
};

struct AttemptTail::Halves {
  AttemptTail one, other;
};

}  // namespace hedgerow::lab
