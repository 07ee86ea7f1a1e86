#include "lab/experiments/hedged.hpp"

#include <future>
#include <nlohmann/json.hpp>

#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace {

using policy::HedgeChoice;
using simulation::WorldSettings;

constexpr std::size_t partitions = 100;
constexpr double target = 0.999;
constexpr Duration one_delay = std::chrono::milliseconds(10);
constexpr double closed_form_tolerance = 0.1;
// The paper's figures.
constexpr double paper_none_ms = 1800, paper_hedged_ms = 74;
constexpr Duration longest = std::chrono::seconds(5);
// What ours must keep to.
constexpr double ours_p999_ms = 30;
constexpr double ours_extra = 0.021;

WorldSettings world(const HedgedSettings& settings, const HedgeChoice& hedge, std::size_t most_hedges, double fill) {
  WorldSettings world;
  world.seed = settings.seed;
  world.leaves = world.partitions = partitions;
  world.replicas = 3;
  world.workers = 0;
  world.service = hedged_experiment_latency();
  world.rate = settings.rate;
  world.queries = settings.queries;
  world.warm_up = settings.warm_up;
  world.shapes.front().hedge = hedge;
  world.shapes.front().deadline = longest;
  world.policies.hedge.most_hedges = most_hedges;
  world.policies.hedge.budget_fill = fill;
  world.policies.hedge.budget_depth = settings.budget_depth;
  return world;
}

HedgedRun run(const WorldSettings& world, const std::vector<Duration>& delays) {
  HedgedRun out;
  out.report = simulation::simulate(world);
  out.delays = delays;
  out.closed_form_p999_ms = to_milliseconds(hedged_quantile(world.service, delays, partitions, target));
  out.closed_form_extra = hedged_extra(world.service, delays);
  return out;
}

nlohmann::json run_json(const HedgedRun& run) {
  nlohmann::json out = run.report.to_json();
  out["closed_form"] = {{"p999_ms", run.closed_form_p999_ms}, {"extra_share", run.closed_form_extra}};
  out["closed_form"]["delays_ms"] = nlohmann::json::array();
  for (const Duration delay : run.delays) out["closed_form"]["delays_ms"].push_back(to_milliseconds(delay));
  return out;
}

}  // namespace

HedgedExperiment run_hedged_experiment(const HedgedSettings& settings) {
  const HedgeChoice off{.mode = HedgeChoice::Mode::off};
  const HedgeChoice fixed{.mode = HedgeChoice::Mode::fixed, .delay = one_delay};
  const HedgeChoice automatic{.mode = HedgeChoice::Mode::automatic};
  const auto latency = hedged_experiment_latency();
  HedgedExperiment out;
  out.settings = settings;
  // The one hedge of the paper is sent whenever it is due: its bucket never runs out.
  auto none = std::async(std::launch::async, [&] { return run(world(settings, off, 1, 0), {}); });
  auto one = std::async(std::launch::async, [&] { return run(world(settings, fixed, 1, 1), {one_delay}); });
  out.none = none.get();
  auto ours = std::async(std::launch::async, [&] {
    return run(world(settings, automatic, 2, settings.budget_fill),
               best_delays(latency, settings.budget_fill, partitions, target));
  });
  out.one_hedge = one.get();
  out.ours = ours.get();
  return out;
}

std::vector<Finding> HedgedExperiment::findings() const {
  std::vector<Finding> out;
  const auto judge = [&](const std::string& name, const HedgedRun& run) {
    const auto& figures = run.report.measured;
    out.push_back(near(name + ", simulated: p99.9", "ms", figures.quantile_ms(target), Source::closed_form,
                       run.closed_form_p999_ms, closed_form_tolerance));
    out.push_back(at_least(name + ", simulated: completeness", "%", 100 * figures.completeness(), Source::own, 100));
    out.push_back(at_most(name + ", simulated: invariants broken", "", static_cast<double>(run.report.violated), Source::own, 0));
  };
  judge("no hedge", none);
  judge("one hedge after 10 ms", one_hedge);
  judge("hedge=auto", ours);
  const auto extra = [](const HedgedRun& run) { return 100 * run.report.measured.extra_share(); };
  out.push_back(within("one hedge after 10 ms, simulated: extra attempts", "%", extra(one_hedge), Source::closed_form,
                       100 * one_hedge.closed_form_extra, 0.1));
  out.push_back(near("no hedge, simulated: p99.9", "ms", none.report.measured.quantile_ms(target), Source::paper, paper_none_ms,
                     closed_form_tolerance));
  out.push_back(near("one hedge after 10 ms, simulated: p99.9", "ms", one_hedge.report.measured.quantile_ms(target),
                     Source::paper, paper_hedged_ms, closed_form_tolerance));
  out.push_back(
      at_most("hedge=auto, simulated: p99.9", "ms", ours.report.measured.quantile_ms(target), Source::own, ours_p999_ms));
  out.push_back(at_most("hedge=auto, simulated: extra attempts", "%", extra(ours), Source::own, 100 * ours_extra));
  return out;
}

nlohmann::json HedgedExperiment::to_json() const {
  return {{"experiment", "hedged"},
          {"simulated", true},
          {"seed", settings.seed},
          {"queries", settings.queries},
          {"warm_up", settings.warm_up},
          {"rate_per_second", settings.rate},
          {"latency", hedged_experiment_latency().text()},
          {"budget", {{"fill", settings.budget_fill}, {"depth", settings.budget_depth}}},
          {"closed_form",
           {{"none", {{"p999_ms", none.closed_form_p999_ms}, {"extra_share", none.closed_form_extra}}},
            {"one_hedge", {{"p999_ms", one_hedge.closed_form_p999_ms}, {"extra_share", one_hedge.closed_form_extra}}},
            {"ours", {{"p999_ms", ours.closed_form_p999_ms}, {"extra_share", ours.closed_form_extra}}}}},
          {"none", run_json(none)},
          {"one_hedge", run_json(one_hedge)},
          {"ours", run_json(ours)}};
}

}  // namespace hedgerow::lab
