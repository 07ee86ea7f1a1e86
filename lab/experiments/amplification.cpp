#include "lab/experiments/amplification.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/experiments/live_cluster.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace amplification {
namespace {

using namespace std::chrono_literals;

// A leaf answers in 10 ms, and sometimes in a second: the paper's figures. In between lies what counts as slow.
constexpr Duration fast = 10ms, slow_time = 1s, is_slow = 500ms;
constexpr double rare = 0.01, very_rare = 0.0001;
constexpr std::array<std::size_t, 8> widths{1, 2, 5, 10, 20, 50, 70, 100};
constexpr std::size_t leaves = 100, many_leaves = 2000;
// As the paper prints them.
constexpr double paper_of_100 = 63, paper_of_2000 = 18;

struct Measured {
  std::size_t width;
  double slow;  // of a leaf's answers
  std::uint64_t queries;
  double percent;
};

Measured simulate_width(std::size_t width, std::size_t all, double slow, std::uint64_t queries, std::uint64_t seed) {
  simulation::WorldSettings world;
  world.seed = seed;
  world.leaves = world.partitions = all;
  world.replicas = 1;
  world.workers = 0;  // nothing queues: slowness is all there is
  world.service = *simulation::ServiceTime::parse("mix:" + std::to_string(1 - slow) + "*constant:" + format_duration(fast) + "+" +
                                                  std::to_string(slow) + "*constant:" + format_duration(slow_time));
  world.rate = 100;
  world.queries = queries;
  auto& shape = world.shapes.front();
  shape.width = width == all ? 0 : width;
  shape.deadline = 10s;
  shape.hedge.mode = policy::HedgeChoice::Mode::off;
  const auto report = simulation::simulate(world);
  return {width, slow, report.measured.queries, 100 * report.measured.longer_than(is_slow)};
}

ExperimentResult found(const std::vector<Measured>& all, double other) {
  ExperimentResult result;
  report::Table table{"Queries that take longer than " + format_duration(is_slow),
                      {{"leaves asked", true},
                       {"slow answers of a leaf", true},
                       {"queries", true},
                       {"slow queries", true},
                       {"1 - (1 - p)^n", true}},
                      {}};
  report::Series measured{"measured", {}, report::Mark::points}, expected{"1 - (1 - p)^n, p = 1 %", {}, report::Mark::line, true};
  for (const Measured& one : all) {
    const double closed = slow_queries_percent(one.slow, one.width);
    const std::string name = std::to_string(one.width) + " leaves, " + figure(100 * one.slow) + " % slow answers: slow queries";
    result.findings.push_back(share_of(name, one.percent, Source::closed_form, closed, one.queries, other));
    if (one.width == leaves)
      result.findings.push_back(share_of(name, one.percent, Source::paper, paper_of_100, one.queries, 0.5 + other));
    if (one.width == many_leaves)
      result.findings.push_back(share_of(name, one.percent, Source::paper, paper_of_2000, one.queries, 0.5 + other));
    table.rows.push_back({std::to_string(one.width), figure(100 * one.slow) + " %", std::to_string(one.queries),
                          figure(one.percent) + " %", figure(closed) + " %"});
    result.figures["widths"].push_back({{"width", one.width},
                                        {"slow_share", one.slow},
                                        {"queries", one.queries},
                                        {"slow_percent", one.percent},
                                        {"closed_form_percent", closed}});
    if (one.slow == rare) measured.points.push_back({static_cast<double>(one.width), one.percent});
  }
  for (std::size_t width = 1; width <= leaves; ++width) {
    expected.points.push_back({static_cast<double>(width), slow_queries_percent(rare, width)});
  }
  report::Chart chart;
  chart.name = "amplification";
  chart.title = "One slow answer in a hundred, and how many queries meet one";
  chart.caption =
      "Each leaf answers slowly once in a hundred times. A query waits for all the leaves that it asks: of 100 leaves, 63 % of "
      "the "
      "queries are slow.";
  chart.x = {"leaves asked by a query", report::Scale::linear, 0, static_cast<double>(leaves)};
  chart.y = {"slow queries (%)", report::Scale::linear, 0, 100};
  measured.colour = expected.colour = 0;
  chart.series = {std::move(measured), std::move(expected)};
  chart.rules = {{"the paper: 63 %", paper_of_100}};
  result.tables.push_back(std::move(table));
  result.charts.push_back(std::move(chart));
  result.settings["slow_answers"] = rare;
  return result;
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  std::vector<Measured> all;
  for (const std::size_t width : widths) {
    request.say("width " + std::to_string(width));
    all.push_back(simulate_width(width, leaves, rare, request.queries.value_or(40'000), request.seed));
  }
  request.say("width " + std::to_string(many_leaves));
  all.push_back(simulate_width(many_leaves, many_leaves, very_rare, request.queries.value_or(40'000) / 4, request.seed));
  return found(all, 0);
}

// A hundred leaf processes of one partition each; a fault makes one answer in a hundred late by a second.
result<ExperimentResult> live(const ExperimentRequest& request) {
  LiveCluster cluster(request, {.leaves = leaves, .partitions = leaves, .replicas = 1});
  cluster.set_faults({{{"kind", "late"}, {"delay", format_duration(slow_time)}, {"probability", rare}, {"work", {"search"}}}});
  std::vector<Measured> all;
  for (const std::size_t width : widths) {
    request.say("width " + std::to_string(width));
    const auto run = cluster.load({.parameters = {{"fanout", std::to_string(width)}, {"hedge", "off"}, {"deadline", "5s"}},
                                   .rate = 20,
                                   .duration = scaled(40s, request),
                                   .warm_up = 1s,
                                   .seed = request.seed + width});
    std::uint64_t slow = 0, answered = 0;
    for (const auto& outcome : run.outcomes) {
      if (outcome.status != 200) continue;
      ++answered;
      slow += outcome.latency > is_slow ? 1 : 0;
    }
    all.push_back({width, rare, answered, answered == 0 ? NAN : 100 * static_cast<double>(slow) / static_cast<double>(answered)});
  }
  // Half a percent besides chance: of what the machine itself holds up for longer than half a second.
  auto result = found(all, 0.5);
  result.notes.push_back(
      "2,000 leaves are for the simulation alone: one machine does not hold as many processes that answer in 10 ms.");
  cluster.describe(result);
  return result;
}

}  // namespace
}  // namespace amplification

double slow_queries_percent(double slow, std::size_t asked) { return 100 * (1 - std::pow(1 - slow, static_cast<double>(asked))); }

Experiment amplification_experiment() {
  return {"amplification",
          "If one answer of a leaf in a hundred is slow, how many queries are that wait for 1 to 100 leaves? And one in 10,000, "
          "for 2,000?",
          "63 % of the queries of 100 leaves, 18 % of those of 2,000 at one in 10,000: 1 - (1 - p)^n.",
          "The Tail at Scale, \"Variability amplified by scale\"",
          amplification::simulated,
          amplification::live};
}

}  // namespace hedgerow::lab
