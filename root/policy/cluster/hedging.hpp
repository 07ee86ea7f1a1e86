// Whether and when attempts are hedged: the cluster's share of the hedging policy. Pure.
//
// Intuition: an attempt that takes longer than nearly all others is probably stuck behind something that another replica
// is not stuck behind; asking there as well costs little, as long as few attempts are hedged. That is true only while
// slowness is rare and not shared. So the delay is solved for a budget (hedge_planner), a token bucket bounds what is
// really sent, and hedging stops by itself when it can only add load: when most leaves are slow at once, when leaves
// refuse work or attempts queue there, when there is nothing to gain. The first three stop fixed delays and
// quantiles as well: they protect the cluster, whatever delay was wished.
//
// A query takes a plan when it starts (plan) and asks for a token for each hedge (take).
//
// What was learnt while slowness was shared would mislead: when it ends, the cluster's latencies are forgotten and the
// plans from before it serve until there is enough to go by again. What lasts longer than a minute is how things are now,
// and is learnt anew.
//
// Only what is told here, to the latencies and to the load, and plan and take themselves change anything; everything
// const may be read from outside without disturbing a recording's replay.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/attempt_latencies.hpp"
#include "root/policy/cluster/cluster_load.hpp"
#include "root/policy/cluster/hedge_planner.hpp"
#include "root/policy/cluster/shared_slowness.hpp"

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
  busy,             // attempts wait on leaves for a large part of the time that they are worked on
  no_gain,          // the best delays would gain next to nothing
};

constexpr std::size_t hedge_obstacles = 8;

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

// Whether dangers (shared slowness, refusals, busy leaves) stop hedging. off is for comparison: it shows what they prevent.
enum class HedgeBrakes { on, off };

struct HedgeSettings {
  double budget_fill = 0.05;  // tokens for each primary attempt
  double budget_depth = 200;  // the most tokens that can be saved
  double target_quantile = 0.999;  // of queries: what automatic delays minimise
  std::size_t most_hedges = 2;     // for one partition
  Duration shortest_delay = std::chrono::milliseconds(1);  // of automatic delays and quantiles
  HedgeBrakes brakes = HedgeBrakes::on;
};

// What stands in the way of hedging from the start and for good, so that the root can say so (a setting that can have no
// effect must not be silent): off, no_replica or none. most_replicas: of any partition.
HedgeObstacle obstacle_at_start(const HedgeChoice& wanted, std::size_t most_replicas);

class Hedging {
 public:
  Hedging(const HedgeSettings& settings, AttemptLatencies& latencies, const ClusterLoad& load);

  // For a query that starts now. width: partitions asked; most_replicas: of any of them. Never more delays than
  // most_replicas - 1; none where something stands in the way (obstacle says what). A fixed delay or quantile d gives
  // delays d, 2d, ...: every attempt is given so long.
  HedgePlan plan(const HedgeChoice& wanted, std::size_t width, std::size_t most_replicas, Instant now);
  // What stood in the way of the latest query that wanted hedges.
  HedgeObstacle obstacle() const { return obstacle_; }

  // Of a primary attempt (or the retry that took its place): it was sent; it passed its plan's overdue_after without an
  // answer; it was answered before that.
  void on_primary(LeafId leaf, Instant now);
  void on_overdue(LeafId leaf, Instant now);
  void on_in_time(LeafId leaf, Instant now);

  // True: one hedge is granted and paid for. False also where an obstacle came up since the plan was made.
  bool take(Instant now);

  const AttemptBudget& budget() const { return budget_; }
  // How often an obstacle stood in the way: plans without delays, and hedges that were due and not sent. (Those that the
  // budget refused are the budget's.)
  std::uint64_t suppressed(HedgeObstacle obstacle) const { return suppressed_[static_cast<std::size_t>(obstacle)]; }
  // Changeable live.
  void set_budget(double fill, double depth);
  const HedgeSettings& settings() const { return settings_; }
  // The latest automatic plan, for /v1/cluster.
  const HedgePlan& latest() const { return latest_; }

 private:
  // A plan for queries of one shape, kept until the latencies have something new.
  struct Kept {
    std::size_t width, hedges;
    std::uint64_t version;
    HedgePlan plan;
    bool gains;
  };

  // What stands in the way of every hedge at the moment, whatever the delay.
  HedgeObstacle danger(Instant now) const;
  void meet(HedgeObstacle obstacle);
  // The share of the budget that the leaves' load leaves room for.
  double room(Instant now) const;
  double planned_budget(Instant now) const;
  void after_shared_slowness(Instant now);
  // nullptr: there is none, and none can be made now.
  const Kept* kept_plan(std::size_t width, std::size_t hedges, Instant now);
  void make(Kept& kept, Instant now);
  void judge_what_is_usual(Instant now);

  HedgeSettings settings_;
  AttemptLatencies& latencies_;
  const ClusterLoad& load_;
  AttemptBudget budget_;
  SharedSlowness slowness_;
  bool slowness_lasted_ = false;
  bool learning_anew_ = false;
  std::vector<Kept> kept_;
  std::size_t next_replaced_ = 0;
  Duration usual_{}, rare_{};  // what most attempts and nearly all keep to
  std::uint64_t judged_version_ = 0;
  std::array<std::uint64_t, hedge_obstacles> suppressed_{};
  HedgeObstacle obstacle_ = HedgeObstacle::too_little_known;
  HedgePlan latest_;
};

}  // namespace hedgerow::policy
