#include "lab/experiments/canary.hpp"

#include <cmath>

#include "corpus/synthetic.hpp"
#include "lab/experiments/live_cluster.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace canary {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t leaves = 20, partitions = 20, replicas = 3;
// One or two leaves, says the paper.
constexpr double most_killed = 2;

struct Death {
  const char* name;
  double killed = 0;
  double refused = 0, deadly = 0;  // deadly queries: refused, and asked
  double completeness = 0;         // of harmless queries, asked meanwhile and afterwards
};

struct Cost {
  const char* name;
  Histogram latency{600'000'000'000};
  double quantile_ms(double share) const { return static_cast<double>(latency.value_at_quantile(share)) / 1e6; }
};

std::string whole(double count) { return std::to_string(std::llround(count)); }

void tell(ExperimentResult& result, const std::vector<Death>& deaths, const std::vector<Cost>& costs) {
  report::Table killed{"A deadly query among harmless ones, " + std::to_string(leaves) + " leaves",
                       {{"", false},
                        {"leaves taken down", true},
                        {"deadly queries asked", true},
                        {"of these refused", true},
                        {"completeness of harmless ones", true}},
                       {}};
  report::Chart chart;
  chart.name = "canary";
  chart.title = "Leaves that a deadly query takes down";
  chart.caption =
      "With canaries it runs on one leaf, and once more on another, and then it is refused. Without, it runs everywhere at once.";
  chart.x = {"", report::Scale::words};
  chart.y = {"leaves taken down", report::Scale::linear, 0, static_cast<double>(leaves)};
  report::Series bars{"leaves taken down", {}, report::Mark::bars};
  for (const Death& death : deaths) {
    killed.rows.push_back(
        {death.name, whole(death.killed), whole(death.deadly), whole(death.refused), figure(100 * death.completeness) + " %"});
    result.figures["deadly"][death.name] = {{"killed", death.killed},
                                            {"deadly_queries", death.deadly},
                                            {"refused", death.refused},
                                            {"completeness", death.completeness}};
    bars.points.push_back({static_cast<double>(chart.x.words.size()), death.killed});
    chart.x.words.emplace_back(death.name);
  }
  chart.series.push_back(std::move(bars));
  report::Table cost{"What canaries cost harmless queries (ms)", {{"", false}, {"p50", true}, {"p99", true}}, {}};
  for (const Cost& one : costs) {
    cost.rows.push_back({one.name, figure(one.quantile_ms(0.5)), figure(one.quantile_ms(0.99))});
    result.figures["cost"][one.name] = {{"p50_ms", one.quantile_ms(0.5)}, {"p99_ms", one.quantile_ms(0.99)}};
  }
  result.tables = {std::move(killed), std::move(cost)};
  result.charts.push_back(std::move(chart));
}

simulation::WorldSettings world(const ExperimentRequest& request, bool canaries) {
  simulation::WorldSettings world;
  world.seed = request.seed;
  world.leaves = leaves;
  world.partitions = partitions;
  world.replicas = replicas;
  world.workers = 2;
  world.rate = 50;
  world.restart_time = 600s;  // nobody starts it again while the experiment looks
  world.shapes.front().deadline = 500ms;
  if (canaries) world.canaries.emplace();
  return world;
}

Death simulate_deadly(const ExperimentRequest& request, bool canaries, std::uint64_t& violated) {
  auto settings = world(request, canaries);
  settings.service = *simulation::ServiceTime::parse("lognormal:3ms,0.4");
  settings.network = simulation::ServiceTime::constant(100us);
  settings.queries = request.queries.value_or(5'000);
  settings.warm_up = 200;
  settings.shapes.front().texts = 200;
  settings.shapes.front().weight = 0.99;
  simulation::QueryShape deadly = settings.shapes.front();
  deadly.texts = 1;
  deadly.weight = 0.01;
  deadly.deadly = true;
  settings.shapes.push_back(deadly);
  Death death{canaries ? "with canaries" : "without"};
  double partitions_asked = 0, partitions_answered = 0;
  const auto report = simulation::simulate(settings, [&](const simulation::QueryEnd& end) {
    if (end.shape == 1) {
      ++death.deadly;
      death.refused += end.search ? 0 : 1;
      return;
    }
    partitions_asked += partitions;
    for (std::size_t i = 0; end.search && i < end.search->partitions().size(); ++i) {
      partitions_answered += end.search->state_of(i) == policy::PartitionState::answered ? 1 : 0;
    }
  });
  death.killed = static_cast<double>(report.leaves.killed);
  death.completeness = partitions_answered / partitions_asked;
  violated += report.violated;
  return death;
}

// Leaves that always take as long, on a way that always takes as long.
constexpr Duration leaf_time = 5ms, way = 500us;

Cost simulate_cost(const ExperimentRequest& request, const char* name, bool canaries, std::size_t texts) {
  auto settings = world(request, canaries);
  settings.workers = 0;
  settings.service = simulation::ServiceTime::constant(leaf_time);
  settings.network = simulation::ServiceTime::constant(way);
  settings.queries = request.queries.value_or(5'000);
  settings.warm_up = 2'000;  // until every text of the repeated ones was asked
  settings.shapes.front().texts = texts;
  settings.shapes.front().hedge.mode = policy::HedgeChoice::Mode::off;
  Cost cost{name};
  cost.latency = simulation::simulate(settings).measured.latency;
  return cost;
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  std::uint64_t violated = 0;
  request.say("a deadly query");
  const std::vector<Death> deaths{simulate_deadly(request, true, violated), simulate_deadly(request, false, violated)};
  request.say("the cost");
  const std::vector<Cost> costs{simulate_cost(request, "without canaries", false, 0),
                                simulate_cost(request, "with canaries, first time", true, 0),
                                simulate_cost(request, "with canaries, repeated", true, 100)};
  tell(result, deaths, costs);
  result.findings.push_back(at_most("with canaries: leaves taken down", "", deaths[0].killed, Source::paper, most_killed));
  result.findings.push_back(
      at_least("with canaries: leaves taken down (the query is deadly)", "", deaths[0].killed, Source::closed_form, 1));
  result.findings.push_back(
      at_least("with canaries: completeness of harmless queries", "%", 100 * deaths[0].completeness, Source::own, 99.5));
  result.findings.push_back(at_least("with canaries: deadly queries refused, of those asked", "%",
                                     100 * deaths[0].refused / deaths[0].deadly, Source::own, 90));
  result.findings.push_back(at_least("without: leaves taken down", "", deaths[1].killed, Source::closed_form, leaves));
  const double once = to_milliseconds(leaf_time + 2 * way);
  result.findings.push_back(near("cost: p50 without canaries", "ms", costs[0].quantile_ms(0.5), Source::closed_form, once, 0.01));
  result.findings.push_back(
      near("cost: p50 of first-seen queries", "ms", costs[1].quantile_ms(0.5), Source::closed_form, 2 * once, 0.01));
  result.findings.push_back(
      near("cost: p50 of repeated queries", "ms", costs[2].quantile_ms(0.5), Source::closed_form, once, 0.01));
  result.findings.push_back(at_most("invariants broken", "", static_cast<double>(violated), Source::own, 0));
  result.settings = {{"leaves", leaves}, {"partitions", partitions}, {"replicas", replicas}, {"deadly_share", 0.01}};
  return result;
}

// Live: a fault makes every leaf end that begins a query with one rare word.
constexpr std::uint64_t deadly_rank = 1000;

Death ask_deadly(LiveCluster& cluster, bool canaries, const ExperimentRequest& request) {
  Death death{canaries ? "with canaries" : "without"};
  const std::string query = made_up_query(canaries ? 1 : 2) + " " + synthetic_word(deadly_rank);
  const SearchParameters parameters{
      {"canary", canaries ? "auto" : "off"}, {"deadline", "2s"}, {"spelling", "off"}, {"snippets", "off"}};
  double completeness = 0, harmless = 0;
  for (int round = 0; round < 6; ++round) {
    const auto answer = cluster.search(query, parameters);
    ++death.deadly;
    death.refused += answer.status == 422 ? 1 : 0;
    for (int i = 0; i < 10; ++i) {
      const auto other =
          cluster.search(made_up_query(request.seed * 1000 + static_cast<std::uint64_t>(10 * round + i)), parameters);
      ++harmless;
      if (other.status == 200) completeness += other.body["completeness"]["fraction"].get<double>();
    }
  }
  death.killed = static_cast<double>(cluster.leaves() - cluster.leaves_running());
  death.completeness = completeness / harmless;
  return death;
}

result<ExperimentResult> live(const ExperimentRequest& request) {
  ExperimentResult result;
  LiveCluster cluster(request, {.leaves = leaves, .partitions = partitions, .replicas = replicas});
  // The cost first, while all leaves live. The same number of queries that nobody asked before, by turns.
  std::vector<Cost> costs{{"without canaries"}, {"with canaries, first time"}, {"with canaries, repeated"}};
  const std::size_t rounds = rounds_of(3, request);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    request.say("the cost, round " + std::to_string(round + 1));
    const auto ask = [&](Cost& cost, const char* canaries, std::uint64_t first) {
      LiveLoad load{.parameters = {{"canary", canaries}, {"hedge", "off"}, {"deadline", "2s"}},
                    .rate = 25,
                    .duration = in_each_round(75s, rounds, request),
                    .warm_up = {},
                    .seed = request.seed + round};
      const auto count = static_cast<std::uint64_t>(1.3 * load.rate * to_seconds(load.duration)) + 10;
      for (std::uint64_t i = 0; i < count; ++i) load.queries.push_back(made_up_query(first + i));
      cost.latency.merge(cluster.load(load).latency());
    };
    const std::uint64_t mine = 1'000'000 * (round + 1);
    ask(costs[0], "off", mine);
    ask(costs[1], "auto", mine + 500'000);
    ask(costs[2], "auto", mine + 500'000);
  }
  const nlohmann::json deadly =
      nlohmann::json::array({{{"kind", "crash"}, {"word", synthetic_word(deadly_rank)}, {"work", {"search"}}}});
  std::vector<Death> deaths;
  for (const bool canaries : {true, false}) {
    request.say(canaries ? "a deadly query, with canaries" : "a deadly query, without");
    cluster.set_faults(deadly);
    deaths.push_back(ask_deadly(cluster, canaries, request));
    cluster.start_ended_leaves();
  }
  tell(result, deaths, costs);
  result.findings.push_back(at_most("with canaries: leaves taken down", "", deaths[0].killed, Source::paper, most_killed));
  result.findings.push_back(
      at_least("with canaries: leaves taken down (the query is deadly)", "", deaths[0].killed, Source::closed_form, 1));
  result.findings.push_back(
      at_least("with canaries: completeness of harmless queries", "%", 100 * deaths[0].completeness, Source::own, 99));
  // What it reached before its second loss quarantined it, canaries or not.
  result.findings.push_back(at_least("without: leaves taken down", "", deaths[1].killed, Source::own, leaves / 2.0));
  const double once = costs[0].quantile_ms(0.5);
  result.findings.push_back(at_most("cost: p50 of first-seen queries (at most one leaf's time more)", "ms",
                                    costs[1].quantile_ms(0.5), Source::closed_form, 2 * once + 1));
  result.findings.push_back(
      at_most("cost: p50 of repeated queries", "ms", costs[2].quantile_ms(0.5), Source::own, 1.15 * once + 0.5));
  cluster.describe(result);
  return result;
}

}  // namespace
}  // namespace canary

Experiment canary_experiment() {
  return {
      "canary",
      "How many leaves does a deadly query take down, with canaries and without, and what do canaries cost harmless ones?",
      "Two at most with canaries, all that it reaches without; a first-seen query pays one leaf's time, a repeated one nothing.",
      "The Tail at Scale, \"Canary requests\"; closed form",
      canary::simulated,
      canary::live};
}

}  // namespace hedgerow::lab
