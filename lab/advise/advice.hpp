// What to advise somebody who has measured latencies, of whatever system: when to hedge and how often, the deadline for a
// wanted completeness, what to expect with and without, from which load on hedging harms, and how far to trust all that.
// Pure: the same samples and question give the same advice.
//
// The plan is the root's own (root/policy/cluster/hedge_planner); figures come from hedged_tail's closed forms, intervals
// from the samples' number, loads from load_model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/advise/harmful_load.hpp"
#include "lab/advise/hedged_tail.hpp"
#include "lab/latency_counts.hpp"

namespace hedgerow::lab {

// What was measured.
enum class SamplesOf {
  attempts,  // one partition asked of one server
  queries,   // whole ones, over the whole width, unhedged
};

struct AdviceQuestion {
  LatencyCounts latencies, given_up;
  SamplesOf samples_of = SamplesOf::attempts;
  // Of whole queries in the same run, unhedged, beside the attempts': they tell what a query takes beside its attempts, and
  // whether attempts are slow independently. Empty: not known.
  LatencyCounts query_latencies;
  // What a query takes beside its attempts; none: as query_latencies tell, else nothing.
  std::optional<Duration> overhead = std::nullopt;

  std::size_t width = 1;     // servers (partitions) that a query asks, all of which must answer
  std::size_t replicas = 2;  // of each partition
  std::size_t most_hedges = 2;
  double budget = 0.05;      // further attempts for each first one
  double target = 0.999;     // of queries: the quantile that is to be small
  // None: what the root's default is, 1 ms, or the median of what was measured, where that is less.
  std::optional<Duration> shortest_delay = std::nullopt;
  // Shares of the partitions; empty: 1, 0.99, 0.95 and 0.9.
  std::vector<double> completeness;
  // Of the slow attempts, those that would be slow at every replica.
  double shared = 0;
  // Or how many slow attempts were asked again at another replica, and how many of those were slow there too; none asked
  // again: `shared` is what is known.
  std::uint64_t asked_again = 0, slow_again = 0;
  // These are judged instead of the best ones; empty: the best are found.
  std::vector<Duration> delays;
  // The share of the servers' time that is worked; none: nothing is said of load.
  std::optional<double> load = std::nullopt;
  std::size_t workers = 1;  // of each server
  double confidence = 0.95;
};

// Errors: invalid_argument, naming the option that makes no sense.
std::optional<Error> problem_with(const AdviceQuestion& question);

enum class Verdict {
  hedge,
  no_replica,       // nobody else can be asked
  too_few_samples,  // fewer than the root itself would plan with
  no_gain,          // the best plan, or the delays to be judged, make the target hardly earlier
  harmful,          // at this load, even where waits are independent
};
std::string_view to_string(Verdict verdict);

struct QuantileAdvice {
  double quantile;  // of queries
  TimeEstimate without, with;
};

struct DeadlineAdvice {
  double completeness;  // wanted
  std::size_t needed;   // partitions of the width
  TimeEstimate without, with;
  // Of all queries at these deadlines, the mean completeness; where the deadline is known.
  std::optional<double> mean_without = std::nullopt, mean_with = std::nullopt;
};

struct BudgetAdvice {
  double budget;
  Hedges hedges;
  double extra = 0;
  std::optional<Duration> target;
};

// A common rule, beside the plan: one hedge after a quantile of the latencies ("p95", as the paper has it).
struct RuleAdvice {
  double quantile;
  Hedges hedges;
  double extra = 0;
  std::optional<Duration> target;
};

// Where replicas share some of the slowness: what is left of the gain.
struct SharedAdvice {
  double shared;
  std::optional<Duration> target;
};

// From slow attempts that were asked again: of them, the share that is slow everywhere, and what becomes of the target at its
// limits.
struct AskedAgain {
  ShareEstimate shared;
  std::optional<Duration> target_at_least, target_at_most;
};

// The plan that one half of the samples suggests, judged by the other half, and the other way round: their geometric mean.
// Samples that are too few for a plan show here.
struct CrossCheck {
  std::optional<Duration> target;
  double extra = 0;
};

// What whole queries say, where attempts were measured too: query = overhead + the latest of its attempts.
struct QueryCheck {
  double quantile = 0;      // the highest at which both still tell
  Duration measured{};      // of queries
  Duration predicted{};     // from attempts, the overhead included
  // So many independent attempts would be as late at that quantile: the width, where slowness strikes independently; fewer
  // where slow attempts come together.
  double effective_width = 0;
};

struct Advice {
  Verdict verdict = Verdict::hedge;
  Duration shortest_delay{};
  Hedges hedges;  // empty delays: none
  ShareEstimate extra;
  // In all that is told of queries; not in the delays, nor in what is told of load.
  Duration overhead{};
  std::optional<QueryCheck> query_check;  // none: no queries were given, or too few (notes say so)
  // Of partitions, that may be late at the target.
  double late_share = 0;
  // How many samples would tell the target without hedges; and whether there are so many.
  double samples_for_target = 0;
  std::vector<QuantileAdvice> quantiles;  // 0.5, 0.9, 0.95, 0.99, 0.999 and the target
  std::vector<DeadlineAdvice> deadlines;
  std::vector<BudgetAdvice> budgets;
  std::vector<RuleAdvice> rules;
  std::vector<SharedAdvice> shared;
  std::optional<AskedAgain> asked_again;  // none: none were, or nothing is hedged
  std::optional<CrossCheck> cross_check;  // none: too few for two halves
  std::optional<LoadModel> load_model;    // none: no load was told, or whole queries were measured
  std::optional<HarmfulLoad> harmful;
  std::vector<std::string> notes;  // what limits all this, a sentence each

  const QuantileAdvice& at_target(const AdviceQuestion& question) const;
};

// By so much what happens may differ from what was predicted: the latency of the target with hedges, over the prediction.
constexpr double bearable_difference = 0.15;

// Precondition: problem_with finds nothing.
Advice advise(const AdviceQuestion& question);

}  // namespace hedgerow::lab
