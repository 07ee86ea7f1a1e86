#include "lab/experiments/subsystems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "lab/experiments/live_cluster.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace subsystem_runs {
namespace {

using namespace std::chrono_literals;

// As docs/policies.md promises them.
constexpr double vain_share = 0.0025, vain_per_second = 0.05, vain_burst = 2;
constexpr Duration slow = 300ms;

enum class Way { off, healthy, late };
constexpr std::array ways{Way::off, Way::healthy, Way::late};

const char* name_of(Way way) {
  switch (way) {
    case Way::off: return "no spelling";
    case Way::healthy: return "healthy spellers";
    case Way::late: return "spellers of 300 ms";
  }
  return "";
}

struct Arm {
  Way way;
  Histogram latency{600'000'000'000};
  std::map<std::string, std::uint64_t> spelling = {};  // answers by status
  double seconds = 0;
  double quantile_ms(double share) const { return static_cast<double>(latency.value_at_quantile(std::min(share, 1.0))) / 1e6; }
  double percent_with(const std::string& status) const {
    const auto found = spelling.find(status);
    return latency.count() == 0 || found == spelling.end()
               ? 0
               : 100 * static_cast<double>(found->second) / static_cast<double>(latency.count());
  }
};

// What may differ besides, and how many answers of healthy spellers must be there.
struct Tolerance {
  double share, ms, healthy_percent;
};

void judge(ExperimentResult& result, const std::vector<Arm>& arms, const Tolerance& tolerance) {
  report::Table table{"Queries beside spelling",
                      {{"", false},
                       {"queries", true},
                       {"p50 (ms)", true},
                       {"p99 (ms)", true},
                       {"p99.9 (ms)", true},
                       {"spelling: ok", true},
                       {"late", true},
                       {"skipped", true}},
                      {}};
  report::Chart chart;
  chart.name = "subsystems";
  chart.title = "A slow speller beside the search";
  chart.caption =
      "Latency of queries without spelling, with spellers that answer, and with spellers that take 300 ms. The three should lie "
      "on each other.";
  chart.x = report::quantile_axis();
  chart.y = report::latency_axis();
  for (const Arm& arm : arms) {
    table.rows.push_back({name_of(arm.way), std::to_string(arm.latency.count()), figure(arm.quantile_ms(0.5)),
                          figure(arm.quantile_ms(0.99)), figure(arm.quantile_ms(0.999)), figure(arm.percent_with("ok")) + " %",
                          figure(arm.percent_with("late")) + " %", figure(arm.percent_with("skipped")) + " %"});
    result.figures[name_of(arm.way)] = {{"queries", arm.latency.count()},
                                        {"p50_ms", arm.quantile_ms(0.5)},
                                        {"p99_ms", arm.quantile_ms(0.99)},
                                        {"p999_ms", arm.quantile_ms(0.999)},
                                        {"spelling", arm.spelling}};
    chart.series.push_back(report::latency_curve(name_of(arm.way), arm.latency));
  }
  const Arm &off = arms[0], &healthy = arms[1], &late = arms[2];
  const double vain = waits_in_vain(static_cast<double>(late.latency.count()), late.seconds);
  const auto bound = [&](double share) { return off.quantile_ms(share + vain) * (1 + tolerance.share) + tolerance.ms; };
  result.findings.push_back(at_most("spellers of 300 ms: p50", "ms", late.quantile_ms(0.5), Source::closed_form, bound(0.5)));
  result.findings.push_back(at_most("spellers of 300 ms: p99", "ms", late.quantile_ms(0.99), Source::closed_form, bound(0.99)));
  result.findings.push_back(at_least("spellers of 300 ms: answers that say late or skipped", "%",
                                     late.percent_with("late") + late.percent_with("skipped"), Source::own, 99));
  result.findings.push_back(at_least("healthy spellers: answers with spelling", "%", healthy.percent_with("ok"), Source::own,
                                     tolerance.healthy_percent));
  result.tables.push_back(std::move(table));
  result.charts.push_back(std::move(chart));
  result.figures["waits_in_vain_share"] = vain;
}

Arm simulate_way(Way way, const ExperimentRequest& request, std::uint64_t& violated) {
  simulation::WorldSettings world;
  world.seed = request.seed;
  world.leaves = world.partitions = 20;
  world.replicas = 2;
  world.workers = 0;
  world.service = *simulation::ServiceTime::parse("lognormal:4ms,0.5");
  world.network = simulation::ServiceTime::constant(100us);
  world.rate = 200;
  world.queries = request.queries.value_or(200'000);
  world.warm_up = 2'000;
  world.shapes.front().hedge.mode = policy::HedgeChoice::Mode::off;
  if (way == Way::healthy) world.spellers = simulation::Spellers{2, *simulation::ServiceTime::parse("lognormal:1ms,0.5")};
  if (way == Way::late) world.spellers = simulation::Spellers{2, simulation::ServiceTime::constant(slow)};
  const auto report = simulation::simulate(world);
  violated += report.violated;
  Arm arm{way};
  arm.latency = report.measured.latency;
  arm.seconds = to_seconds(report.simulated);
  for (std::size_t i = 0; i < report.measured.spelling.size(); ++i) {
    arm.spelling[std::string(policy::to_string(static_cast<policy::SubsystemStatus>(i)))] = report.measured.spelling[i];
  }
  return arm;
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  std::vector<Arm> arms;
  std::uint64_t violated = 0;
  for (const Way way : ways) {
    request.say(name_of(way));
    arms.push_back(simulate_way(way, request, violated));
  }
  judge(result, arms, {0.02, 0, 95});  // of the histogram's steps and of chance
  result.findings.push_back(at_most("invariants broken", "", static_cast<double>(violated), Source::own, 0));
  result.settings = {{"leaves", 20},
                     {"service", "lognormal:4ms,0.5"},
                     {"queries", arms.front().latency.count()},
                     {"slow_speller_ms", to_milliseconds(slow)}};
  return result;
}

result<ExperimentResult> live(const ExperimentRequest& request) {
  ExperimentResult result;
  LiveCluster cluster(request, {.leaves = 4, .partitions = 8, .replicas = 2, .spellers = 2});
  const nlohmann::json late =
      nlohmann::json::array({{{"kind", "late"}, {"delay", format_duration(slow)}, {"work", {"spelling"}}}});
  std::vector<Arm> arms;
  for (const Way way : ways) arms.push_back(Arm{way});
  const std::size_t rounds = rounds_of(4, request);
  const Duration each = in_each_round(80s, rounds, request);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (Arm& arm : arms) {
      request.say(std::string(name_of(arm.way)) + ", round " + std::to_string(round + 1));
      cluster.set_faults(arm.way == Way::late ? late : nlohmann::json::array());
      LiveLoad load{.parameters = {{"spelling", arm.way == Way::off ? "off" : "auto"}, {"hedge", "off"}},
                    .rate = 60,
                    .duration = each,
                    .warm_up = scaled(3s, request),
                    .seed = request.seed + round};
      // Spellers are asked of words that nobody has.
      for (std::uint64_t query = 0; query < 400; ++query)
        load.queries.push_back(made_up_query(400 * round + query) + " wrodd quxzly");
      const auto run = cluster.load(load);
      arm.latency.merge(run.latency());
      arm.seconds += to_seconds(each);
      for (const auto& outcome : run.outcomes) {
        if (outcome.status != 200) continue;
        for (const auto& [name, status] : outcome.subsystems) {
          if (name == "spelling") ++arm.spelling[status];
        }
      }
    }
  }
  // On a machine that does other things, the p99 of some 5,000 queries differs by itself; and after each late round it takes
  // a moment until it is noticed that spellers are well again.
  judge(result, arms, {0.25, 1, 80});
  cluster.describe(result);
  return result;
}

}  // namespace
}  // namespace subsystem_runs

double waits_in_vain(double queries, double seconds) {
  using namespace subsystem_runs;
  return queries > 0 ? vain_share + (vain_per_second * seconds + vain_burst) / queries : 1;
}

Experiment subsystems_experiment() {
  return {"subsystems",
          "What becomes of queries' latency when spelling, which an answer can do without, takes 300 ms?",
          "Nothing: it is skipped or late. An answer waits for it in vain in a quarter of a per cent of the cases at most, 5 ms.",
          "The Tail at Scale, \"Good enough\"; the bound follows from the ration of waits in vain",
          subsystem_runs::simulated,
          subsystem_runs::live};
}

}  // namespace hedgerow::lab
