// Whether and when attempts are hedged: the cluster's share of the hedging policy. Pure.
//
// Intuition: an attempt that takes longer than nearly all others is probably stuck behind something that another replica
// is not stuck behind; asking there as well costs little, as long as few attempts are hedged. That is true only while
// slowness is rare and not shared. So the delay is solved for a budget (hedge_planner), a token bucket bounds what is
// really sent, and hedging stops by itself when it can only add load: when most leaves are slow at once, when leaves
// refuse work or queue more than they work, when there is nothing to gain.
//
// A query takes a plan when it starts (plan) and asks for a token for each hedge (take).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/attempt_latencies.hpp"
#include "root/policy/cluster/cluster_load.hpp"
#include "root/policy/cluster/hedge_planner.hpp"

namespace hedgerow::policy {

// What a query (or the root's settings) wants.
struct HedgeChoice {
  enum class Mode { automatic, quantile, fixed, off };
  Mode mode = Mode::automatic;
  double quantile = 0.95;  // of Mode::quantile: the paper's rule
  Duration delay{};        // of Mode::fixed
  friend bool operator==(const HedgeChoice&, const HedgeChoice&) = default;
};

// Why nothing is hedged at the moment.
enum class HedgeObstacle {
  none,
  off,              // not wanted
  no_replica,       // no partition has a second one
  too_little_known, // too few recent latencies to judge by
  shared_slowness,  // most leaves are slow at once
  refusals,         // leaves refuse work
  busy,             // leaves queue more than they work
  no_gain,          // the best delays would gain next to nothing
};

constexpr std::string_view to_string(HedgeObstacle obstacle) {
  switch (obstacle) {
    case HedgeObstacle::none: return "none";
    case HedgeObstacle::off: return "off";
    case HedgeObstacle::no_replica: return "no_replica";
    case HedgeObstacle::too_little_known: return "too_little_known";
    case HedgeObstacle::shared_slowness: return "shared_slowness";
    case HedgeObstacle::refusals: return "refusals";
    case HedgeObstacle::busy: return "busy";
    case HedgeObstacle::no_gain: return "no_gain";
  }
  return "none";
}

struct HedgeSettings {
  double budget_fill = 0.05;  // tokens for each primary attempt
  double budget_depth = 200;  // the most tokens that can be saved
  double target_quantile = 0.999;  // of queries: what automatic delays minimise
  std::size_t most_hedges = 2;     // for one partition
  Duration shortest_delay = std::chrono::milliseconds(1);  // of automatic delays and quantiles
};

class Hedging {
 public:
  Hedging(const HedgeSettings& settings, AttemptLatencies& latencies, const ClusterLoad& load);

  // For a query that starts now. width: partitions asked; most_replicas: of any of them. Never more delays than
  // most_replicas - 1; none where something stands in the way (obstacle says what).
  HedgePlan plan(const HedgeChoice& wanted, std::size_t width, std::size_t most_replicas, Instant now);
  // What stood in the way of the latest automatic plan.
  HedgeObstacle obstacle() const { return obstacle_; }

  // Of a primary attempt (or the retry that took its place): it was sent; it passed the first delay of its plan without
  // an answer; it was answered before that.
  void on_primary(LeafId leaf, Instant now);
  void on_overdue(LeafId leaf, Instant now);
  void on_in_time(LeafId leaf, Instant now);

  // True: one hedge is granted and paid for. False also where an obstacle came up since the plan was made.
  bool take(Instant now);

  const AttemptBudget& budget() const { return budget_; }
  // Changeable live.
  void set_budget(double fill, double depth);
  const HedgeSettings& settings() const { return settings_; }
  // The latest automatic plan, for /v1/cluster.
  const HedgePlan& latest() const { return latest_; }

 private:
  HedgeSettings settings_;
  AttemptLatencies& latencies_;
  const ClusterLoad& load_;
  AttemptBudget budget_;
  HedgeObstacle obstacle_ = HedgeObstacle::too_little_known;
  HedgePlan latest_;
};

}  // namespace hedgerow::policy
