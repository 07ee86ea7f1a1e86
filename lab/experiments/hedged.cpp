#include "lab/experiments/hedged.hpp"

#include <cmath>
#include <cstdio>
#include <future>
#include <nlohmann/json.hpp>

#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace {

using policy::HedgeChoice;
using simulation::ServiceTime;
using simulation::WorldSettings;

constexpr std::size_t partitions = 100;
constexpr double target = 0.999;
constexpr Duration one_delay = std::chrono::milliseconds(10);
constexpr double tolerance = 0.1;
constexpr Duration longest = std::chrono::seconds(5);
// What ours must keep to.
constexpr double ours_p999_ms = 30;
constexpr double ours_extra = 0.021;

// The smallest duration from 0 to longest for which `holds`, which once true stays true.
template <class Holds>
Duration smallest(Holds&& holds) {
  Duration low{0}, high = longest;
  while (high - low > Duration(1000)) {
    const Duration middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

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

nlohmann::json to_json(const HedgedRun& run) {
  nlohmann::json out = run.report.to_json();
  out["closed_form"] = {{"p999_ms", run.closed_form_p999_ms}, {"extra_share", run.closed_form_extra}};
  out["closed_form"]["delays_ms"] = nlohmann::json::array();
  for (const Duration delay : run.delays) out["closed_form"]["delays_ms"].push_back(to_milliseconds(delay));
  return out;
}

}  // namespace

ServiceTime hedged_experiment_latency() {
  return *ServiceTime::parse("pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s");
}

Duration hedged_quantile(const ServiceTime& latency, const std::vector<Duration>& delays, std::size_t asked, double share) {
  const double late_share = 1 - std::pow(share, 1 / static_cast<double>(asked));
  return smallest([&](Duration time) {
    double late = latency.longer_than(time);
    for (const Duration delay : delays) late *= latency.longer_than(time - delay);
    return late <= late_share;
  });
}

double hedged_extra(const ServiceTime& latency, const std::vector<Duration>& delays) {
  double extra = 0;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    double silent = latency.longer_than(delays[i]);
    for (std::size_t earlier = 0; earlier < i; ++earlier) silent *= latency.longer_than(delays[i] - delays[earlier]);
    extra += silent;
  }
  return extra;
}

std::vector<Duration> best_delays(const ServiceTime& latency, double budget, std::size_t asked, double share) {
  std::vector<Duration> best;
  Duration best_time = Duration::max();
  // The first from the soonest that the budget allows; the second as soon as the rest of the budget allows.
  const Duration soonest = smallest([&](Duration delay) { return latency.longer_than(delay) <= budget; });
  for (Duration first = soonest; first < soonest + std::chrono::milliseconds(60); first += std::chrono::microseconds(20)) {
    const Duration second = smallest([&](Duration delay) { return delay > first && hedged_extra(latency, {first, delay}) <= budget; });
    const Duration time = hedged_quantile(latency, {first, second}, asked, share);
    if (time < best_time) {
      best_time = time;
      best = {first, second};
    }
  }
  return best;
}

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
    return run(world(settings, automatic, 2, settings.budget_fill), best_delays(latency, settings.budget_fill, partitions, target));
  });
  out.one_hedge = one.get();
  out.ours = ours.get();
  return out;
}

std::vector<std::string> HedgedExperiment::disagreements() const {
  std::vector<std::string> out;
  const auto compare = [&](const char* name, const HedgedRun& run) {
    const double p999 = run.report.measured.quantile_ms(target);
    char line[160];
    if (std::abs(p999 / run.closed_form_p999_ms - 1) > tolerance) {
      std::snprintf(line, sizeof line, "%s: p99.9 is %.1f ms, and %.1f ms by the closed form", name, p999, run.closed_form_p999_ms);
      out.emplace_back(line);
    }
    if (run.report.measured.completeness() < 1) out.push_back(std::string(name) + ": not every answer was complete");
    if (run.report.violated > 0) out.push_back(std::string(name) + ": " + run.report.violations.front());
  };
  compare("none", none);
  compare("one_hedge", one_hedge);
  compare("ours", ours);
  const double extra = one_hedge.report.measured.extra_share();
  if (std::abs(extra - one_hedge.closed_form_extra) > 0.001) out.emplace_back("one_hedge: its extra share is not 2.0 %");
  if (ours.report.measured.quantile_ms(target) > ours_p999_ms) out.emplace_back("ours: p99.9 is beyond 30 ms");
  if (ours.report.measured.extra_share() > ours_extra) out.emplace_back("ours: more than 2.1 % extra attempts");
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
          {"none", lab::to_json(none)},
          {"one_hedge", lab::to_json(one_hedge)},
          {"ours", lab::to_json(ours)},
          {"tolerance", tolerance},
          {"agrees", agrees()},
          {"disagreements", disagreements()}};
}

std::string HedgedExperiment::to_text() const {
  char line[200];
  std::snprintf(line, sizeof line, "%llu queries of 100 partitions on 100 leaves, three replicas, seed %llu\n\n",
                static_cast<unsigned long long>(settings.queries), static_cast<unsigned long long>(settings.seed));
  std::string text = line;
  text += "              p50 ms    p99 ms  p99.9 ms  closed form   extra %  closed form\n";
  const auto row = [&](const char* name, const HedgedRun& run) {
    const auto& figures = run.report.measured;
    std::snprintf(line, sizeof line, "%-11s %8.1f %9.1f %9.1f %12.1f %9.3f %12.3f\n", name, figures.quantile_ms(0.5),
                  figures.quantile_ms(0.99), figures.quantile_ms(target), run.closed_form_p999_ms, 100 * figures.extra_share(),
                  100 * run.closed_form_extra);
    text += line;
  };
  row("none", none);
  row("one hedge", one_hedge);
  row("ours", ours);
  text += agrees() ? "\nIt agrees.\n" : "\nIt does not agree:\n";
  for (const auto& disagreement : disagreements()) text += "  " + disagreement + "\n";
  return text;
}

}  // namespace hedgerow::lab
