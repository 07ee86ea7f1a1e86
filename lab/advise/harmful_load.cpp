#include "lab/advise/harmful_load.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "lab/advise/hedged_tail.hpp"
#include "root/policy/cluster/hedge_planner.hpp"

namespace hedgerow::lab {

namespace {

using policy::LatencyCurve;

// So many samples must lie beyond what is compared.
constexpr double fewest_samples_beyond = 10;
constexpr double load_step = 0.02;
constexpr double load_precision = 0.001;
constexpr double most_load = 0.99;
// Of queries' curves: times are so close together, and shares are told down to this part of the latest.
constexpr double query_grid = 0.002;
constexpr std::uint64_t query_samples = 10'000'000;
// Shares of hedges that differ by less are one; and after so many rounds it is as if they had settled.
constexpr double settled = 0.001;
constexpr int most_rounds = 30;

Duration end_of(const LatencyCurve& curve) { return curve.steps.empty() ? Duration{} : curve.steps.back().time; }
Duration last_delay(const Hedges& hedges) { return hedges.delays.empty() ? Duration{} : hedges.delays.back(); }

Duration target_of(const LatencyCurve& curve, const Hedges& hedges, double late_share) {
  const Duration end = 2 * end_of(curve) + last_delay(hedges);
  const auto after = [&](Duration t) { return t < Duration{} ? 1 : curve.unanswered_after(t); };
  return earliest_that(end, [&](Duration t) { return late_share_after(hedges, t, after) <= late_share; }).value_or(end);
}

// Of whole queries over so many partitions, as if none waited longer than at the measured load.
LatencyCurve queries(const LatencyCurve& attempts, const Hedges& hedges, std::size_t width) {
  LatencyCurve out;
  out.answered = query_samples;
  if (attempts.steps.empty()) return out;
  const auto after = [&](Duration t) { return t < Duration{} ? 1 : attempts.unanswered_after(t); };
  const double end = static_cast<double>((2 * end_of(attempts) + last_delay(hedges)).count());
  double left = 1;
  for (double t = static_cast<double>(attempts.steps.front().time.count()); left > 1e-9; t = t * (1 + query_grid) + 1) {
    const Duration time{static_cast<Duration::rep>(t)};
    const double late = std::min(1.0, late_share_after(hedges, time, after));
    // 1 - (1 - late)^n.
    left = late >= 1 ? 1 : -std::expm1(static_cast<double>(width) * std::log1p(-late));
    out.steps.push_back({time, left});
    if (t > end) break;
  }
  return out;
}

struct HedgedAt {
  Hedges hedges;
  double load;  // with them
};

double extra_of(const Hedges& hedges, const LatencyCurve& curve) {
  return extra_attempts(hedges, [&](Duration t) { return t < Duration{} ? 1 : curve.unanswered_after(t); });
}

// What is hedged depends on the load, and that on what is hedged: in the first round the whole budget is, and the second
// hardly differs from it. nullopt: the leaves could not keep up. Without delays where none help.
std::optional<HedgedAt> with_best_delays(const LoadModel& model, const HedgingWish& wish, double load) {
  HedgedAt out{{}, load};
  double extra = wish.budget;
  for (int round = 0; round < 2; ++round) {
    out.load = load * (1 + extra);
    if (out.load >= most_load) return std::nullopt;
    const LatencyCurve curve = model.attempts_at(out.load);
    const policy::HedgePlan plan = policy::plan_hedges({curve, curve, wish.late_share, wish.budget, wish.most_hedges, wish.shortest_delay});
    out.hedges = {plan.delays, plan.probability, wish.shared};
    if (plan.delays.empty()) break;
    extra = wish.shared > 0 ? extra_of(out.hedges, curve) : plan.extra_share;
  }
  return out;
}

// From no hedges on, until what they cost settles.
std::optional<HedgedAt> with_given_delays(const LoadModel& model, const HedgingWish& wish, double load) {
  HedgedAt out{{wish.delays, 1, wish.shared}, load};
  double extra = 0;
  for (int round = 0; round < most_rounds; ++round) {
    const double before = extra;
    extra = extra_of(out.hedges, model.attempts_at(out.load));
    out.load = load * (1 + extra);
    if (out.load >= most_load) return std::nullopt;
    if (extra - before < settled) break;
  }
  return out;
}

// The first of rising loads from which `harms` holds, between the one at which it was seen and the one before.
double boundary(double before, double seen, const std::function<bool(double)>& harms) {
  while (seen - before > load_precision) {
    const double middle = (before + seen) / 2;
    (harms(middle) ? seen : before) = middle;
  }
  return seen;
}

}  // namespace

LoadPoint hedged_at(const LoadModel& model, const HedgingWish& wish, double load) {
  LoadPoint out;
  out.load = out.hedged_load = load;
  const LatencyCurve unhedged = model.attempts_at(load);
  out.without = out.with = target_of(unhedged, {}, wish.late_share);
  const double late_queries = -std::expm1(static_cast<double>(wish.width) * std::log1p(-wish.late_share));
  const auto query_target = [&](const Hedges& hedges, double at) {
    return target_of(model.with_further_wait(queries(model.measured(), hedges, wish.width), at), {}, late_queries);
  };
  out.without_alike = out.with_alike = query_target({}, load);

  const std::optional<HedgedAt> hedged = wish.delays.empty() ? with_best_delays(model, wish, load) : with_given_delays(model, wish, load);
  if (!hedged) {
    out.hedged_load = 1;
    out.with = out.with_alike = Duration::max();
    return out;
  }
  if (hedged->hedges.delays.empty()) return out;
  out.hedged_load = hedged->load;
  out.with = target_of(model.attempts_at(hedged->load), hedged->hedges, wish.late_share);
  out.with_alike = query_target(hedged->hedges, hedged->load);
  return out;
}

HarmfulLoad find_harmful_load(const LoadModel& model, HedgingWish wish) {
  HarmfulLoad out;
  wish.late_share = std::max(wish.late_share, std::min(0.5, fewest_samples_beyond / static_cast<double>(std::max<std::uint64_t>(1, model.measured().answered))));
  out.quantile = std::pow(1 - wish.late_share, static_cast<double>(wish.width));
  out.full = out.independent = out.alike = wish.delays.empty() ? most_load / (1 + wish.budget) : most_load;

  struct Sought {
    double HarmfulLoad::*at;
    std::function<bool(const LoadPoint&)> holds;
    bool found = false;
  };
  std::vector<Sought> sought{{&HarmfulLoad::independent, [](const LoadPoint& point) { return point.with > point.without; }},
                             {&HarmfulLoad::alike, [](const LoadPoint& point) { return point.with_alike > point.without_alike; }}};
  if (!wish.delays.empty()) sought.push_back({&HarmfulLoad::full, [](const LoadPoint& point) { return point.hedged_load >= 1; }});
  double before = model.measured_load();
  for (double load = before; load < most_load; load += load_step) {
    const LoadPoint point = hedged_at(model, wish, load);
    out.points.push_back(point);
    for (Sought& each : sought) {
      if (each.found || !each.holds(point)) continue;
      each.found = true;
      out.*each.at = std::min(out.*each.at, boundary(before, load, [&](double at) { return each.holds(hedged_at(model, wish, at)); }));
    }
    before = load;
  }
  return out;
}

}  // namespace hedgerow::lab
