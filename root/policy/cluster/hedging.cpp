#include "root/policy/cluster/hedging.hpp"

#include <algorithm>

#include "root/policy/cluster/hedge_worth.hpp"

namespace hedgerow::policy {

namespace {

constexpr std::uint64_t enough_to_plan_anew = 1000;  // samples, in place of a plan from before shared slowness

// Where the best delays gain nothing for the target, attempts are still hedged that take so many times as long as most.
constexpr int beyond_the_usual = 3;

// Of the budget: what is planned with when the bucket is empty, half full and full. A little below the fill at first, or
// chance would run the bucket dry; a little above it when what is saved allows it.
constexpr double planned_when_empty = 0.70, planned_when_half_full = 0.98, planned_when_full = 1.02;

// Time waited on leaves over time worked there: up to the first there is room for the whole budget, from the second on
// for none. In simulated clusters (20 leaves with 1 to 8 workers, queries of 20 partitions) hedging stopped paying for
// itself between 0.25 with two workers and 0.5 with one: the load that it adds then delays everyone by what it gains.
constexpr double queueing_is_fine = 0.05, queueing_is_busy = 0.5;

// Leaves refuse work.
constexpr double refused_is_too_much = 0.01;

// Slowness that lasts longer is how things are.
constexpr Duration longest_slowness = std::chrono::seconds(60);

// Plans are kept for so many shapes of queries.
constexpr std::size_t most_kept = 8;

}  // namespace

HedgeObstacle obstacle_at_start(const HedgeChoice& wanted, std::size_t most_replicas) {
  if (wanted.mode == HedgeChoice::Mode::off) return HedgeObstacle::off;
  return most_replicas < 2 ? HedgeObstacle::no_replica : HedgeObstacle::none;
}

Hedging::Hedging(const HedgeSettings& settings, AttemptLatencies& latencies, const ClusterLoad& load)
    : settings_(settings), latencies_(latencies), load_(load), budget_(settings.budget_fill, settings.budget_depth) {}

double Hedging::room(Instant now) const {
  if (settings_.brakes == HedgeBrakes::off) return 1;
  const double queueing = load_.pressure(now);
  return std::clamp((queueing_is_busy - queueing) / (queueing_is_busy - queueing_is_fine), 0.0, 1.0);
}

double Hedging::planned_budget(Instant now) const {
  const double level = budget_.depth() > 0 ? budget_.tokens() / budget_.depth() : 0;
  const double planned = level < 0.5
                             ? planned_when_empty + (planned_when_half_full - planned_when_empty) * level / 0.5
                             : planned_when_half_full + (planned_when_full - planned_when_half_full) * (level - 0.5) / 0.5;
  return budget_.fill() * planned * room(now);
}

HedgeObstacle Hedging::danger(Instant now) const {
  if (settings_.brakes == HedgeBrakes::off) return HedgeObstacle::none;
  if (slowness_.lasts()) return HedgeObstacle::shared_slowness;
  if (load_.refused_share(now) > refused_is_too_much) return HedgeObstacle::refusals;
  if (room(now) <= 0) return HedgeObstacle::busy;
  return HedgeObstacle::none;
}

void Hedging::meet(HedgeObstacle obstacle) {
  obstacle_ = obstacle;
  if (obstacle != HedgeObstacle::none) ++suppressed_[static_cast<std::size_t>(obstacle)];
}

void Hedging::judge_what_is_usual(Instant now) {
  if (latencies_.samples(now) < enough_to_plan || latencies_.version(now) == judged_version_) return;
  judged_version_ = latencies_.version(now);
  const LatencyCurve& healthy = latencies_.healthy(now);
  const auto usual = healthy.quantile(0.9), rare = healthy.quantile(0.99);
  if (!usual || *usual == LatencyModel::longer_than_known) return;
  usual_ = std::max(*usual, settings_.shortest_delay);
  rare_ = std::max(usual_, *rare);
}

void Hedging::make(Kept& kept, Instant now) {
  const LatencyCurve& healthy = latencies_.healthy(now);
  // Both from healthy leaves: with the sick one's attempts among the first, the budget would not allow a delay at which
  // they are noticed. What they cost beyond the plan is bounded by the bucket.
  const double late = late_share(settings_.target_quantile, kept.width);
  kept.plan = plan_hedges({healthy, healthy, late, planned_budget(now), kept.hedges, settings_.shortest_delay});
  kept.version = latencies_.version(now);
  // Whether the target without hedges would be so much later is known even where it is not known how late it would be
  // (attempts that late have all been overtaken by hedges). By all leaves: a sick one is what hedges answer, even where the
  // healthy ones gain nothing.
  const LatencyCurve& all = latencies_.all(now);
  const auto gains = [&](const HedgePlan& plan) {
    return !plan.delays.empty() && all.unanswered_after(worth_hedging_after(plan.with_hedges, settings_.shortest_delay)) > plan.late_share;
  };
  kept.gains = gains(kept.plan);
  // The target itself may be beyond help, or too near to what is usual; a leaf that hangs is not.
  const Duration unusual = beyond_the_usual * usual_;
  if (!kept.gains && unusual > Duration{} && healthy.unanswered_after(unusual) < planned_budget(now)) {
    HedgePlan modest = kept.plan;
    modest.delays = {unusual};
    modest.probability = 1;
    modest.late_share = std::max(modest.late_share, late);
    modest.with_hedges = unusual + usual_;  // of most
    modest.without_hedges = std::max(modest.without_hedges, modest.with_hedges);
    modest.extra_share = healthy.unanswered_after(unusual);
    kept.gains = gains(modest);
    if (kept.gains) kept.plan = std::move(modest);
  }
  latest_ = kept.plan;
  if (!kept.gains) latest_.delays.clear();
}

const Hedging::Kept* Hedging::kept_plan(std::size_t width, std::size_t hedges, Instant now) {
  const auto fits = [&](const Kept& kept) { return kept.width == width && kept.hedges == hedges; };
  const auto found = std::find_if(kept_.begin(), kept_.end(), fits);
  const std::uint64_t samples = latencies_.samples(now);
  if (learning_anew_ && samples >= enough_to_plan_anew) learning_anew_ = false;
  if (learning_anew_ || samples < enough_to_plan) return learning_anew_ && found != kept_.end() ? &*found : nullptr;

  judge_what_is_usual(now);
  const std::uint64_t version = latencies_.version(now);
  if (found != kept_.end()) {
    if (found->version != version) make(*found, now);
    return &*found;
  }
  if (kept_.size() < most_kept) {
    kept_.push_back({width, hedges, 0, {}, false});
    make(kept_.back(), now);
    return &kept_.back();
  }
  // Queries of many shapes: one more plan for each renewal of the latencies, otherwise the one whose width is nearest.
  Kept* nearest = nullptr;
  const auto distance = [&](const Kept& kept) { return kept.width > width ? kept.width - width : width - kept.width; };
  for (Kept& kept : kept_) {
    if (kept.hedges == hedges && (!nearest || distance(kept) < distance(*nearest))) nearest = &kept;
  }
  if (!nearest || nearest->version != version) {
    nearest = &kept_[next_replaced_++ % most_kept];
    *nearest = {width, hedges, 0, {}, false};
    make(*nearest, now);
  }
  return nearest;
}

// Notices its end, and the end of patience with it.
void Hedging::after_shared_slowness(Instant now) {
  if (slowness_.lasts() && now - slowness_.since() >= longest_slowness) {
    slowness_.forget();
    latencies_.forget();
    kept_.clear();
    usual_ = rare_ = {};
    slowness_lasted_ = learning_anew_ = false;
    return;
  }
  if (slowness_lasted_ && !slowness_.lasts()) {
    latencies_.forget();
    learning_anew_ = !kept_.empty();
  }
  slowness_lasted_ = slowness_.lasts();
}

HedgePlan Hedging::plan(const HedgeChoice& wanted, std::size_t width, std::size_t most_replicas, Instant now) {
  after_shared_slowness(now);
  HedgePlan plan;
  plan.overdue_after = usual_;
  if (wanted.mode == HedgeChoice::Mode::off) {
    ++suppressed_[static_cast<std::size_t>(HedgeObstacle::off)];
    return plan;
  }
  const std::size_t hedges = most_replicas == 0 ? 0 : std::min(settings_.most_hedges, most_replicas - 1);
  meet(hedges == 0 ? HedgeObstacle::no_replica : danger(now));
  if (obstacle_ != HedgeObstacle::none) return plan;

  if (wanted.mode == HedgeChoice::Mode::automatic) {
    const Kept* kept = kept_plan(width, hedges, now);
    plan.overdue_after = usual_;
    if (!kept || !kept->gains) {
      meet(kept ? HedgeObstacle::no_gain : HedgeObstacle::too_little_known);
      return plan;
    }
    plan = kept->plan;
    // One timer for both, where the delay is neither what many attempts pass nor what hardly any do.
    plan.overdue_after = std::clamp(plan.delays.front(), usual_, rare_);
    return plan;
  }

  Duration delay = wanted.delay;
  judge_what_is_usual(now);
  if (wanted.mode == HedgeChoice::Mode::quantile) {
    const auto known = latencies_.healthy(now).quantile(wanted.quantile);
    if (latencies_.samples(now) < enough_to_plan || !known || *known == LatencyModel::longer_than_known) {
      meet(HedgeObstacle::too_little_known);
      return plan;
    }
    delay = std::max(*known, settings_.shortest_delay);
  }
  for (std::size_t i = 1; i <= hedges; ++i) plan.delays.push_back(delay * static_cast<Duration::rep>(i));
  plan.overdue_after = usual_ == Duration{} ? Duration{} : std::clamp(delay, usual_, rare_);
  return plan;
}

void Hedging::on_primary(LeafId, Instant now) { budget_.on_primary(room(now)); }

// Where it is not known yet what is usual, being overdue by a fixed delay says nothing.
void Hedging::on_overdue(LeafId leaf, Instant now) {
  if (usual_ > Duration{}) slowness_.on_overdue(leaf, now);
}

void Hedging::on_in_time(LeafId leaf, Instant now) {
  if (usual_ > Duration{}) slowness_.on_in_time(leaf, now);
}

bool Hedging::take(Instant now) {
  if (const HedgeObstacle found = danger(now); found != HedgeObstacle::none) {
    meet(found);
    return false;
  }
  return budget_.take();
}

void Hedging::set_budget(double fill, double depth) { budget_.set(fill, depth); }

}  // namespace hedgerow::policy
