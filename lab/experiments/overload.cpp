#include "lab/experiments/overload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <future>
#include <numeric>

#include "lab/experiments/live_cluster.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace overload {
namespace {

using namespace std::chrono_literals;
using policy::HedgeChoice;

enum class Way { off, budget, unlimited };
constexpr std::array ways{Way::off, Way::budget, Way::unlimited};

const char* name_of(Way way) {
  switch (way) {
    case Way::off: return "no hedges";
    case Way::budget: return "hedges with budget and brakes";
    case Way::unlimited: return "hedges after p95, without budget and brakes";
  }
  return "";
}

// What is promised: with a budget, p99 is never more than so much above that without hedges, and well below it where there
// is room; and under overload goodput keeps this share of the capacity, and all is well again after so many seconds.
constexpr double never_worse = 1.1, better_at_low_load = 0.8, goodput_kept = 0.7, well_again = 0.98;
constexpr int seconds_to_recover = 5;

struct Point {
  double utilisation;
  Way way;
  double p50_ms, p99_ms, p999_ms, extra_percent, complete_percent;
};

void tell(ExperimentResult& result, const std::vector<Point>& points) {
  report::Table table{"Latency as leaves become busy",
                      {{"utilisation", true},
                       {"", false},
                       {"p50 (ms)", true},
                       {"p99 (ms)", true},
                       {"p99.9 (ms)", true},
                       {"extra attempts", true},
                       {"complete", true}},
                      {}};
  report::Chart chart;
  chart.name = "overload";
  chart.title = "Hedging and load";
  chart.caption =
      "p99 of queries by the leaves' utilisation. Where leaves are idle hedges cut the tail; where they are busy they are work "
      "that has no room, "
      "unless something stops them.";
  chart.x = {"utilisation without hedges", report::Scale::linear, std::nullopt, std::nullopt, {}, true};
  chart.y = report::latency_axis("p99 (ms)");
  for (const Way way : ways) {
    report::Series series{name_of(way), {}};
    for (const Point& point : points) {
      if (point.way == way) series.points.push_back({point.utilisation, point.p99_ms});
    }
    chart.series.push_back(std::move(series));
  }
  for (const Point& point : points) {
    table.rows.push_back({figure(100 * point.utilisation) + " %", name_of(point.way), figure(point.p50_ms), figure(point.p99_ms),
                          figure(point.p999_ms), figure(point.extra_percent) + " %", figure(point.complete_percent) + " %"});
    result.figures["load"].push_back({{"utilisation", point.utilisation},
                                      {"hedging", name_of(point.way)},
                                      {"p50_ms", point.p50_ms},
                                      {"p99_ms", point.p99_ms},
                                      {"p999_ms", point.p999_ms},
                                      {"extra_percent", point.extra_percent},
                                      {"complete_percent", point.complete_percent}});
  }
  result.tables.push_back(std::move(table));
  result.charts.push_back(std::move(chart));
}

double p99_at(const std::vector<Point>& points, double utilisation, Way way) {
  const auto found = std::find_if(points.begin(), points.end(),
                                  [&](const Point& point) { return point.utilisation == utilisation && point.way == way; });
  return found == points.end() ? NAN : found->p99_ms;
}

std::string percent(double share) { return figure(100 * share) + " %"; }

// Complete answers in each second, as a share of what arrived and of what can be done.
struct Second {
  double asked, complete;
};

void judge_recovery(ExperimentResult& result, const std::vector<Second>& seconds, std::size_t from, std::size_t until,
                    double capacity, double again_share) {
  report::Table table{
      "Three times the capacity for " + std::to_string(until - from) + " s: whole answers by the second in which they were asked",
      {{"second", true}, {"asked", true}, {"answered whole", true}, {"of the capacity", true}},
      {}};
  report::Chart chart;
  chart.name = "overload-recovery";
  chart.title = "An overload, and after it";
  chart.caption =
      "Queries asked, and answered whole and in time, by the second. What is too much is refused at once; when it is over, all "
      "are answered again.";
  chart.x = {"second", report::Scale::linear};
  chart.y = {"queries per second", report::Scale::linear, 0};
  report::Series asked{"asked", {}, report::Mark::line}, whole{"answered whole", {}, report::Mark::line};
  double goodput = 0;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    table.rows.push_back(
        {std::to_string(i), figure(seconds[i].asked), figure(seconds[i].complete), percent(seconds[i].complete / capacity)});
    asked.points.push_back({static_cast<double>(i), seconds[i].asked});
    whole.points.push_back({static_cast<double>(i), seconds[i].complete});
    result.figures["seconds"].push_back({{"second", i}, {"asked", seconds[i].asked}, {"complete", seconds[i].complete}});
    // The first moments cost the limit's coming down.
    if (i > from && i < until) goodput += seconds[i].complete / static_cast<double>(until - from - 1);
  }
  chart.series = {std::move(asked), std::move(whole)};
  chart.rules = {{"capacity", capacity}};
  result.findings.push_back(at_least("at three times the capacity: whole answers, as a share of it", "%",
                                     100 * goodput / capacity, Source::own, 100 * goodput_kept));
  double after = 0, after_asked = 0;
  for (std::size_t i = until + seconds_to_recover; i < seconds.size(); ++i) {
    after += seconds[i].complete;
    after_asked += seconds[i].asked;
  }
  result.findings.push_back(at_least("from five seconds after the overload on: whole answers, of what is asked", "%",
                                     100 * after / after_asked, Source::own, 100 * again_share));
  result.tables.push_back(std::move(table));
  result.charts.push_back(std::move(chart));
}

// 20 leaves of two workers, 20 partitions with three replicas, queries of all of them. A leaf is slow for 40 ms every two
// seconds or so: that is what hedges are good for. What is left is queues, and for these more work is no cure.
constexpr std::size_t leaves = 20, workers = 2;
constexpr double slow_factor = 6;
constexpr Duration slow_every = 2s, slow_lasting = 40ms;

simulation::WorldSettings world(const ExperimentRequest& request, Way way) {
  simulation::WorldSettings world;
  world.seed = request.seed;
  world.leaves = world.partitions = leaves;
  world.replicas = 3;
  world.workers = workers;
  world.service = *simulation::ServiceTime::parse("lognormal:5ms,0.3");
  world.network = simulation::ServiceTime::constant(100us);
  world.slow_periods.every = slow_every;
  world.slow_periods.lasting = slow_lasting;
  world.slow_periods.factor = slow_factor;
  auto& shape = world.shapes.front();
  shape.partial = false;
  switch (way) {
    case Way::off: shape.hedge.mode = HedgeChoice::Mode::off; break;
    case Way::budget: shape.hedge.mode = HedgeChoice::Mode::automatic; break;
    case Way::unlimited:
      shape.hedge = {HedgeChoice::Mode::quantile, 0.95, {}};
      world.policies.hedge.budget_fill = 1;
      world.policies.hedge.budget_depth = 1e6;
      world.policies.hedge.most_hedges = 1;
      world.policies.hedge.brakes = policy::HedgeBrakes::off;
      break;
  }
  return world;
}

// Whole queries a second that keep every worker busy all the time.
double capacity_of(const simulation::WorldSettings& world) {
  const double slow_share = to_seconds(slow_lasting) / to_seconds(slow_every + slow_lasting);
  const double work = world.service.mean_seconds() * (1 + slow_share * (slow_factor - 1));
  return static_cast<double>(workers * leaves) / (work * static_cast<double>(world.partitions));
}

Point simulate_point(const ExperimentRequest& request, double utilisation, Way way) {
  auto settings = world(request, way);
  settings.rate = utilisation * capacity_of(settings);
  settings.queries = request.queries.value_or(40'000);
  settings.warm_up = settings.queries / 10;
  settings.shapes.front().deadline = 5s;
  settings.queue_capacity = 100'000;
  const auto report = simulation::simulate(settings);
  return {utilisation,
          way,
          report.measured.quantile_ms(0.5),
          report.measured.quantile_ms(0.99),
          report.measured.quantile_ms(0.999),
          100 * report.measured.extra_share(),
          100 * report.measured.completeness()};
}

simulation::Report simulate_overload(const ExperimentRequest& request, double usual, Duration from, Duration until,
                                     Duration end) {
  auto settings = world(request, Way::budget);
  const double capacity = capacity_of(settings);
  settings.admission.emplace();
  settings.rate = usual * capacity;
  settings.rate_changes = {{from, 3 * capacity}, {until, usual * capacity}};
  const double queries = capacity * (usual * to_seconds(from) + 3 * to_seconds(until - from) + usual * to_seconds(end - until));
  settings.queries = static_cast<std::uint64_t>(queries);
  settings.timeline = true;
  return simulation::simulate(settings);
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  constexpr std::array utilisations{0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95};
  std::vector<Point> points;
  for (const double utilisation : utilisations) {
    request.say(percent(utilisation) + " utilisation");
    std::array<std::future<Point>, ways.size()> runs;
    for (std::size_t i = 0; i < ways.size(); ++i)
      runs[i] = std::async(std::launch::async, simulate_point, std::cref(request), utilisation, ways[i]);
    for (auto& run : runs) points.push_back(run.get());
  }
  tell(result, points);
  for (const double utilisation : utilisations) {
    const double ratio = p99_at(points, utilisation, Way::budget) / p99_at(points, utilisation, Way::off);
    const std::string claim =
        percent(utilisation) + " utilisation: p99 with budget and brakes, as a multiple of that without hedges";
    result.findings.push_back(at_most(claim, "", ratio, Source::own, utilisation <= 0.5 ? better_at_low_load : never_worse));
  }
  result.findings.push_back(at_least("95 % utilisation: p99 without budget and brakes, as a multiple of that without hedges", "",
                                     p99_at(points, 0.95, Way::unlimited) / p99_at(points, 0.95, Way::off), Source::own, 1.2));

  request.say("overload and recovery");
  constexpr Duration from = 10s, until = 20s, end = 40s;
  constexpr double usual = 0.7;
  const auto report = simulate_overload(request, usual, from, until, end);
  std::vector<Second> seconds;
  for (std::size_t i = 0; i + 1 < report.seconds.size(); ++i) {  // the last one is not whole
    const auto& second = report.seconds[i];
    seconds.push_back({static_cast<double>(second.queries + second.refused),
                       static_cast<double>(second.finished[static_cast<std::size_t>(policy::FinishReason::complete)])});
  }
  judge_recovery(result, seconds, 10, 20, capacity_of(world(request, Way::budget)), well_again);
  result.findings.push_back(at_most("invariants broken", "", static_cast<double>(report.violated), Source::own, 0));
  result.settings = {
      {"leaves", leaves},
      {"workers", workers},
      {"partitions", leaves},
      {"replicas", 3},
      {"service", "lognormal:5ms,0.3"},
      {"slow_periods",
       {{"every_ms", to_milliseconds(slow_every)}, {"lasting_ms", to_milliseconds(slow_lasting)}, {"factor", slow_factor}}},
      {"queries", request.queries.value_or(40'000)}};
  return result;
}

// Live: a worker is held for each partition, so that the leaves and not this machine's cores are what is scarce.
constexpr std::size_t live_leaves = 4;
const LiveClusterSettings live_settings{.leaves = live_leaves, .partitions = 8, .replicas = 2, .workers = 2};
const nlohmann::json& live_faults() {
  static const nlohmann::json faults =
      nlohmann::json::array({{{"kind", "hold"}, {"delay", "lognormal:8ms,0.3"}, {"work", {"search"}}},
                             {{"kind", "late"}, {"delay", "60ms"}, {"probability", 0.01}, {"work", {"search"}}}});
  return faults;
}

double capacity_of(LiveCluster& cluster, const ExperimentRequest& request) {
  const Duration time = scaled(8s, request);
  const auto run = cluster.loads({{.parameters = {{"deadline", "20s"}, {"partial", "deny"}, {"hedge", "off"}},
                                   .clients = 12,
                                   .duration = time,
                                   .seed = request.seed}});
  return static_cast<double>(run.front().with_status(200)) / to_seconds(time);
}

Point live_point(LiveCluster& cluster, const ExperimentRequest& request, double capacity, double utilisation, Way way) {
  const double before = cluster.attempts("hedge"), before_first = cluster.attempts("primary");
  const char* hedge = way == Way::off ? "off" : way == Way::budget ? "auto" : "p95";
  const auto run = cluster.load({.parameters = {{"hedge", hedge}, {"deadline", "2s"}, {"partial", "deny"}},
                                 .rate = utilisation * capacity,
                                 .duration = scaled(25s, request),
                                 .warm_up = 3s,
                                 .seed = request.seed + static_cast<std::uint64_t>(1000 * utilisation)});
  const auto latency = run.latency();
  const double primaries = cluster.attempts("primary") - before_first;
  return {utilisation,
          way,
          run.quantile_ms(0.5),
          run.quantile_ms(0.99),
          run.quantile_ms(0.999),
          100 * (cluster.attempts("hedge") - before) / primaries,
          run.outcomes.empty() ? NAN : 100 * static_cast<double>(latency.count()) / static_cast<double>(run.outcomes.size())};
}

result<ExperimentResult> live(const ExperimentRequest& request) {
  ExperimentResult result;
  constexpr std::array utilisations{0.4, 0.7, 0.9};
  std::vector<Point> points;
  double capacity = 0;
  {
    LiveCluster cluster(request, live_settings);
    cluster.set_faults(live_faults());
    capacity = capacity_of(cluster, request);
    request.say("capacity: " + figure(capacity) + " queries/s");
    for (const double utilisation : utilisations) {
      for (const Way way : {Way::off, Way::budget}) {
        request.say(percent(utilisation) + ", " + name_of(way));
        points.push_back(live_point(cluster, request, capacity, utilisation, way));
      }
    }
    request.say("overload and recovery");
    const LiveLoad usual{
        .parameters = {{"deadline", "250ms"}, {"partial", "deny"}}, .rate = 0.7 * capacity, .duration = 1s, .seed = request.seed};
    std::vector<Second> seconds;
    const auto ask_second = [&](double rate, std::uint64_t number) {
      LiveLoad load = usual;
      load.rate = rate;
      load.seed = request.seed + number;
      const auto run = cluster.load(load);
      seconds.push_back({static_cast<double>(run.outcomes.size()), static_cast<double>(run.with_status(200))});
    };
    // The overload as one load, so that nothing empties the queues between its seconds.
    constexpr std::size_t before = 3, overloaded = 8, after = 12;
    for (std::size_t i = 0; i < before; ++i) ask_second(0.7 * capacity, i);
    LiveLoad too_much = usual;
    too_much.rate = 3 * capacity;
    too_much.duration = std::chrono::seconds(overloaded);
    const auto run = cluster.load(too_much);
    const double each = 1.0 / static_cast<double>(overloaded);
    for (std::size_t i = 0; i < overloaded; ++i) {
      seconds.push_back({each * static_cast<double>(run.outcomes.size()), each * static_cast<double>(run.with_status(200))});
    }
    for (std::size_t i = 0; i < after; ++i) ask_second(0.7 * capacity, 100 + i);
    judge_recovery(result, seconds, before, before + overloaded, capacity, 0.95);
    cluster.describe(result);
  }
  {
    LiveClusterSettings unlimited = live_settings;
    unlimited.root_arguments = {"--hedge-budget-fill=1", "--hedge-budget-depth=1000000", "--most-hedges=1", "--hedge-brakes=off"};
    LiveCluster cluster(request, unlimited);
    cluster.set_faults(live_faults());
    for (const double utilisation : utilisations) {
      request.say(percent(utilisation) + ", " + name_of(Way::unlimited));
      points.push_back(live_point(cluster, request, capacity, utilisation, Way::unlimited));
    }
  }
  tell(result, points);
  const auto ratio = [&](double utilisation, Way way) {
    return p99_at(points, utilisation, way) / p99_at(points, utilisation, Way::off);
  };
  result.findings.push_back(at_most("40 % utilisation: p99 with budget and brakes, as a multiple of that without hedges", "",
                                    ratio(0.4, Way::budget), Source::own, 1));
  // The p99 of some 2,500 queries on a machine that does other things too.
  result.findings.push_back(at_most("90 % utilisation: p99 with budget and brakes, as a multiple of that without hedges", "",
                                    ratio(0.9, Way::budget), Source::own, 1.5));
  result.figures["capacity_per_second"] = capacity;
  return result;
}

}  // namespace
}  // namespace overload

Experiment overload_experiment() {
  return {"overload",
          "From which load on does hedging harm, with a budget and without? And does an overloaded cluster recover by itself?",
          "With a budget and brakes never; without, at high load queries wait longer than without hedges. Goodput stays near the "
          "capacity, and all is well seconds after.",
          "our bars, after what comparable systems reported; Bronson et al., HotOS 2021",
          overload::simulated,
          overload::live};
}

}  // namespace hedgerow::lab
