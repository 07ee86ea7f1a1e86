#include "lab/experiments/hedged_experiment.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/experiments/hedged.hpp"
#include "lab/experiments/live_cluster.hpp"

namespace hedgerow::lab {

namespace hedged_runs {
namespace {

using namespace std::chrono_literals;

constexpr double target = 0.999;
// The paper: 1,800 ms became 74 ms, for 2 % more requests.
constexpr double paper_none_ms = 1800, paper_hedged_ms = 74, paper_factor = paper_none_ms / paper_hedged_ms;
constexpr double most_extra_percent = 2.1;
// Live, what the bucket holds at the start is spent too: 200 of 300,000 attempts are another 0.07 %.
constexpr double live_fill = 0.02;

report::Chart empty_chart() {
  report::Chart chart;
  chart.name = "hedged";
  chart.title = "A query of 100 leaves, with and without hedges";
  chart.caption =
      "A leaf takes 3 to 10 ms in 98 of 100 cases, and more than 1.8 s in one of 100,000. A query waits for all 100; hedging "
      "within 2.1 % more requests "
      "cuts its 99.9th percentile.";
  chart.x = report::quantile_axis();
  chart.y = report::latency_axis();
  chart.rules = {{"the paper, hedged: 74 ms", paper_hedged_ms}};
  return chart;
}

void add_simulated(ExperimentResult& result, const HedgedExperiment& experiment) {
  report::Table table{"Simulated, " + std::to_string(experiment.settings.queries) + " queries each",
                      {{"", false},
                       {"p50 (ms)", true},
                       {"p99 (ms)", true},
                       {"p99.9 (ms)", true},
                       {"closed form", true},
                       {"extra", true},
                       {"closed form", true}},
                      {}};
  const auto add = [&](const char* name, const HedgedRun& run) {
    const auto& figures = run.report.measured;
    const double p999 = figures.quantile_ms(target), extra = 100 * figures.extra_share();
    table.rows.push_back({name, figure(figures.quantile_ms(0.5)), figure(figures.quantile_ms(0.99)), figure(p999),
                          figure(run.closed_form_p999_ms), figure(extra) + " %", figure(100 * run.closed_form_extra) + " %"});
  };
  add("no hedge", experiment.none);
  add("one hedge after 10 ms", experiment.one_hedge);
  add("hedge=auto", experiment.ours);
  for (Finding& finding : experiment.findings()) result.findings.push_back(std::move(finding));
  result.tables.push_back(std::move(table));
  result.figures["simulated"] = experiment.to_json();
}

report::Series curve(const char* name, const Histogram& latency, unsigned colour, bool dashed) {
  report::Series series = report::latency_curve(name, latency);
  series.colour = colour;
  series.dashed = dashed;
  return series;
}

HedgedExperiment simulate(const ExperimentRequest& request, std::uint64_t queries) {
  HedgedSettings settings;
  settings.seed = request.seed;
  settings.queries = request.queries.value_or(queries);
  request.say("simulating three runs of " + std::to_string(settings.queries) + " queries");
  return run_hedged_experiment(settings);
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  const auto experiment = simulate(request, HedgedSettings{}.queries);
  add_simulated(result, experiment);
  auto chart = empty_chart();
  chart.series = {curve("no hedge", experiment.none.report.measured.latency, 0, false),
                  curve("one hedge after 10 ms", experiment.one_hedge.report.measured.latency, 1, false),
                  curve("hedge=auto, 2.1 %", experiment.ours.report.measured.latency, 2, false)};
  result.charts.push_back(std::move(chart));
  result.settings = {{"latency", hedged_experiment_latency().text()},
                     {"leaves", 100},
                     {"replicas", 3},
                     {"queries", experiment.settings.queries}};
  return result;
}

// By reason, how often hedges were left out so far.
std::map<std::string, double> hedges_suppressed(LiveCluster& cluster) {
  return cluster.get("/v1/cluster").at("hedging").at("suppressed").get<std::map<std::string, double>>();
}

// What a reader needs who asks why a turn came out otherwise than another: what stood in the way, warm-up included, and the
// plan at its end.
nlohmann::json turn_json(const LiveRun& turn, double extra_percent, const std::map<std::string, double>& suppressed_before,
                         const nlohmann::json& hedging) {
  nlohmann::json suppressed = nlohmann::json::object();
  for (const auto& [reason, count] : hedging.at("suppressed").get<std::map<std::string, double>>()) {
    const auto before = suppressed_before.find(reason);
    const double now = count - (before == suppressed_before.end() ? 0 : before->second);
    if (now > 0) suppressed[reason] = now;
  }
  return {{"queries", turn.with_status(200)}, {"p99_ms", turn.quantile_ms(0.99)}, {"p999_ms", turn.quantile_ms(target)},
          {"extra_percent", extra_percent},   {"suppressed", suppressed},         {"delays_ms", hedging.at("delays_ms")},
          {"budget", hedging.at("budget")}};
}

// A hundred leaf processes with three replicas of each partition; the same latencies, by a fault that makes answers late and
// occupies no worker, as nothing queues in the paper's example either. Queries come at even intervals for the same reason:
// what the leaves share here is the machine's processors, which a hundred attempts occupy for some 20 ms at once.
result<ExperimentResult> live(const ExperimentRequest& request) {
  ExperimentResult result;
  const auto experiment = simulate(request, 100'000);
  add_simulated(result, experiment);

  HedgedSettings settings;
  LiveCluster cluster(
      request,
      {.leaves = 100,
       .partitions = 100,
       .replicas = 3,
       .root_arguments = {"--hedge-budget-fill=" + std::to_string(live_fill),
                          "--hedge-budget-depth=" + std::to_string(static_cast<int>(settings.budget_depth)), "--most-hedges=2"}});
  cluster.set_faults(nlohmann::json::array(
      {{{"kind", "late"}, {"delay", hedged_experiment_latency().text()}, {"work", {"search"}}, {"seed", request.seed}}}));
  // Not measured: with hedges until the root has forgotten what it learnt without them, as in the simulation; without them
  // until the last query with them is over.
  const Duration to_learn = scaled(22s, request), to_end = scaled(5s, request);
  const auto ask = [&](const char* hedge, Duration warm_up, Duration duration, std::uint64_t seed) {
    return cluster.load({.parameters = {{"hedge", hedge}, {"deadline", "6s"}},
                         .rate = 20,
                         .arrivals = ArrivalShape::even,
                         .duration = duration,
                         .warm_up = warm_up,
                         .seed = seed});
  };

  const std::size_t rounds = rounds_of(2, request);
  LiveRun none, ours;
  double hedges = 0, primaries = 0;
  nlohmann::json turns = nlohmann::json::array();
  const auto add = [](LiveRun& all, const LiveRun& some) {
    all.outcomes.insert(all.outcomes.end(), some.outcomes.begin(), some.outcomes.end());
  };
  for (std::size_t round = 0; round < rounds; ++round) {
    request.say("without hedges, round " + std::to_string(round + 1));
    add(none, ask("off", to_end, in_each_round(210s, rounds, request), request.seed + 10 + round));
    request.say("with hedges, round " + std::to_string(round + 1));
    // Of the warm-up too: a burst that was saved for is an extra attempt as any other.
    const double hedges_before = cluster.attempts("hedge"), primaries_before = cluster.attempts("primary");
    const auto suppressed_before = hedges_suppressed(cluster);
    const LiveRun turn = ask("auto", to_learn, in_each_round(256s, rounds, request), request.seed + 20 + round);
    add(ours, turn);
    const double hedges_sent = cluster.attempts("hedge") - hedges_before, primaries_sent = cluster.attempts("primary") - primaries_before;
    hedges += hedges_sent;
    primaries += primaries_sent;
    turns.push_back(turn_json(turn, 100 * hedges_sent / primaries_sent, suppressed_before, cluster.get("/v1/cluster").at("hedging")));
  }
  const double none_ms = none.quantile_ms(target), ours_p999_ms = ours.quantile_ms(target), extra = 100 * hedges / primaries;
  report::Table table{"Live: 100 leaf processes, three replicas",
                      {{"", false},
                       {"queries", true},
                       {"p50 (ms)", true},
                       {"p99 (ms)", true},
                       {"p99.9 (ms)", true},
                       {"extra", true},
                       {"completeness", true}},
                      {}};
  const auto row = [&](const char* name, const LiveRun& run, double extra_percent) {
    table.rows.push_back({name, std::to_string(run.with_status(200)), figure(run.quantile_ms(0.5)), figure(run.quantile_ms(0.99)),
                          figure(run.quantile_ms(target)), figure(extra_percent) + " %",
                          figure(100 * run.mean_completeness()) + " %"});
    result.figures["live"][name] = {{"queries", run.with_status(200)}, {"p50_ms", run.quantile_ms(0.5)},
                                    {"p99_ms", run.quantile_ms(0.99)}, {"p999_ms", run.quantile_ms(target)},
                                    {"extra_percent", extra_percent},  {"completeness", run.mean_completeness()}};
  };
  row("no hedge", none, 0);
  row("hedge=auto", ours, extra);
  result.figures["live"]["turns with hedges"] = std::move(turns);
  result.findings.push_back(at_least("live: p99.9 without hedges, as a multiple of that with", "", none_ms / ours_p999_ms,
                                     Source::paper, paper_factor));
  result.findings.push_back(at_most("live: extra attempts", "%", extra, Source::own, most_extra_percent));
  result.findings.push_back(at_most("live: p99.9 with hedges", "ms", ours_p999_ms, Source::paper, paper_hedged_ms));
  result.findings.push_back(at_least("live: completeness with hedges", "%", 100 * ours.mean_completeness(), Source::own, 99.9));
  // Some four queries lie beyond it: 30 % is a standard deviation.
  result.findings.push_back(
      near("live: p99.9 without hedges", "ms", none_ms, Source::closed_form, experiment.none.closed_form_p999_ms, 0.9));
  result.tables.push_back(std::move(table));
  auto chart = empty_chart();
  chart.series = {curve("no hedge, live", none.latency(), 0, false),
                  curve("no hedge, simulated", experiment.none.report.measured.latency, 0, true),
                  curve("hedge=auto, live", ours.latency(), 2, false),
                  curve("hedge=auto, simulated", experiment.ours.report.measured.latency, 2, true)};
  result.charts.push_back(std::move(chart));
  cluster.describe(result);
  result.settings["latency"] = hedged_experiment_latency().text();
  return result;
}

}  // namespace
}  // namespace hedged_runs

Experiment hedged_experiment() {
  return {"hedged",
          "What does hedging do to the tail of a query that waits for 100 leaves, and what does it cost?",
          "One hedge after 10 ms: 1,800 ms become 74 ms at p99.9 for 2 % more requests. Ours, automatic and within 2.1 %: at "
          "most 30 ms.",
          "The Tail at Scale, \"Hedged requests\"; closed form",
          hedged_runs::simulated,
          hedged_runs::live};
}

}  // namespace hedgerow::lab
