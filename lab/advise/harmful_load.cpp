#include "lab/advise/harmful_load.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

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

  // What is hedged depends on the load, and that on what is hedged: in the first step the whole budget is, and the second
  // hardly differs from it.
  Hedges hedges;
  hedges.shared = wish.shared;
  double extra = wish.budget;
  for (int step = 0; step < 2; ++step) {
    out.hedged_load = load * (1 + extra);
    if (out.hedged_load >= most_load) {
      out.hedged_load = 1;
      out.with = out.with_alike = Duration::max();
      return out;
    }
    const LatencyCurve hedged = model.attempts_at(out.hedged_load);
    const policy::HedgePlan plan =
        policy::plan_hedges({hedged, hedged, wish.late_share, wish.budget, wish.most_hedges, wish.shortest_delay});
    if (plan.delays.empty()) {
      out.hedged_load = load;
      return out;
    }
    hedges.delays = plan.delays;
    hedges.probability = plan.probability;
    extra = plan.extra_share;
    out.with = target_of(hedged, hedges, wish.late_share);
  }
  out.with_alike = query_target(hedges, out.hedged_load);
  return out;
}

HarmfulLoad find_harmful_load(const LoadModel& model, HedgingWish wish) {
  HarmfulLoad out;
  wish.late_share = std::max(wish.late_share, std::min(0.5, fewest_samples_beyond / static_cast<double>(std::max<std::uint64_t>(1, model.measured().answered))));
  out.quantile = std::pow(1 - wish.late_share, static_cast<double>(wish.width));
  out.full = out.independent = out.alike = most_load / (1 + wish.budget);

  const auto independent = [](const LoadPoint& point) { return point.with > point.without; };
  const auto alike = [](const LoadPoint& point) { return point.with_alike > point.without_alike; };
  bool found_independent = false, found_alike = false;
  double before = model.measured_load();
  for (double load = before; load < most_load; load += load_step) {
    const LoadPoint point = hedged_at(model, wish, load);
    out.points.push_back(point);
    if (!found_independent && independent(point)) {
      found_independent = true;
      out.independent = std::min(out.independent, boundary(before, load, [&](double at) { return independent(hedged_at(model, wish, at)); }));
    }
    if (!found_alike && alike(point)) {
      found_alike = true;
      out.alike = std::min(out.alike, boundary(before, load, [&](double at) { return alike(hedged_at(model, wish, at)); }));
    }
    before = load;
  }
  return out;
}

}  // namespace hedgerow::lab
