#include "lab/experiments/classes.hpp"

#include <array>
#include <cmath>
#include <functional>
#include <future>

#include "corpus/synthetic.hpp"
#include "lab/experiments/live_cluster.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace classes {
namespace {

using namespace std::chrono_literals;

constexpr ClassesModel model{2, 16, 0.2, 0.5};
constexpr std::size_t batch_partitions = 16;
constexpr Duration partition = 2ms, longest = 1h;
// With a mean over 200,000 queries whose waits come in bunches of a batch call's length.
constexpr double tolerance = 0.1;
constexpr std::size_t interactive_shape = 0;

enum class Way { alone, one_class, by_class, interleaved };
constexpr std::array ways{Way::alone, Way::one_class, Way::by_class, Way::interleaved};

const char* name_of(Way way) {
  switch (way) {
    case Way::alone: return "no batch";
    case Way::one_class: return "one class, whole calls";
    case Way::by_class: return "two classes, whole calls";
    case Way::interleaved: return "two classes, interleaved by partition";
  }
  return "";
}

double closed_form(Way way) {
  switch (way) {
    case Way::alone: return wait_alone_ms(model);
    case Way::one_class: return wait_in_one_class_ms(model);
    case Way::by_class: return wait_by_class_ms(model);
    case Way::interleaved: return wait_interleaved_ms(model);
  }
  return 0;
}

struct Arm {
  Way way;
  Histogram latency{600'000'000'000};  // of the interactive queries
  double batch_per_second = 0;
  std::uint64_t violated = 0;
  double mean_ms() const { return latency.mean() / 1e6; }
  double quantile_ms(double share) const { return static_cast<double>(latency.value_at_quantile(share)) / 1e6; }
};

// One leaf of one worker. A call of 16 partitions in one go is one attempt of 16 draws of the service time.
Arm simulate_way(Way way, const ExperimentRequest& request) {
  simulation::WorldSettings world;
  world.seed = request.seed;
  world.leaves = world.replicas = 1;
  world.partitions = batch_partitions;
  world.workers = 1;
  world.queue_capacity = 1'000'000;
  world.service = simulation::ServiceTime::constant(partition);
  const double interactive = 1000 * model.interactive_load / model.partition_ms;
  const double batch = 1000 * model.batch_load / (model.partition_ms * model.batch_partitions);
  world.rate = interactive + (way == Way::alone ? 0 : batch);
  const auto wanted = static_cast<double>(request.queries.value_or(200'000));
  world.queries = static_cast<std::uint64_t>(wanted * world.rate / interactive);
  world.warm_up = world.queries / 50;

  simulation::QueryShape asks;
  asks.weight = interactive;
  asks.width = 1;
  asks.deadline = longest;
  asks.hedge.mode = policy::HedgeChoice::Mode::off;
  world.shapes = {asks};
  if (way != Way::alone) {
    simulation::QueryShape calls = asks;
    calls.weight = batch;
    if (way != Way::one_class) calls.service_class = ServiceClass::batch;
    if (way == Way::interleaved) {
      calls.width = 0;
    } else {
      calls.draws = batch_partitions;
    }
    world.shapes.push_back(calls);
  }
  Arm arm{way};
  std::uint64_t batch_calls = 0;
  const auto report = simulation::simulate(world, [&](const simulation::QueryEnd& end) {
    if (!end.measured) return;
    if (end.shape == interactive_shape) {
      arm.latency.record(static_cast<std::uint64_t>(end.latency.count()));
    } else {
      ++batch_calls;
    }
  });
  arm.batch_per_second = static_cast<double>(batch_calls) / to_seconds(report.simulated);
  arm.violated = report.violated;
  return arm;
}

report::Chart chart_of(const std::vector<Arm>& arms, const std::string& caption) {
  report::Chart chart;
  chart.name = "classes";
  chart.title = "Interactive queries beside batch";
  chart.caption = caption;
  chart.x = report::quantile_axis();
  chart.y = report::latency_axis();
  for (const Arm& arm : arms) chart.series.push_back(report::latency_curve(name_of(arm.way), arm.latency));
  return chart;
}

result<ExperimentResult> simulated(const ExperimentRequest& request) {
  ExperimentResult result;
  std::vector<std::future<Arm>> runs;
  for (const Way way : ways) runs.push_back(std::async(std::launch::async, simulate_way, way, std::cref(request)));
  std::vector<Arm> arms;
  for (auto& run : runs) arms.push_back(run.get());

  report::Table table{"Interactive queries of one partition of " + format_duration(partition) + ", on one worker",
                      {{"", false},
                       {"mean wait (ms)", true},
                       {"closed form", true},
                       {"p50 (ms)", true},
                       {"p99 (ms)", true},
                       {"p99.9 (ms)", true},
                       {"batch calls/s", true}},
                      {}};
  for (const Arm& arm : arms) {
    const double wait = arm.mean_ms() - model.partition_ms, expected = closed_form(arm.way);
    result.findings.push_back(
        near(std::string(name_of(arm.way)) + ": mean wait", "ms", wait, Source::closed_form, expected, tolerance));
    result.findings.push_back(
        at_most(std::string(name_of(arm.way)) + ": invariants broken", "", static_cast<double>(arm.violated), Source::own, 0));
    table.rows.push_back({name_of(arm.way), figure(wait), figure(expected), figure(arm.quantile_ms(0.5)),
                          figure(arm.quantile_ms(0.99)), figure(arm.quantile_ms(0.999)), figure(arm.batch_per_second)});
    result.figures[name_of(arm.way)] = {{"mean_wait_ms", wait},
                                        {"closed_form_ms", expected},
                                        {"p50_ms", arm.quantile_ms(0.5)},
                                        {"p99_ms", arm.quantile_ms(0.99)},
                                        {"p999_ms", arm.quantile_ms(0.999)},
                                        {"batch_per_second", arm.batch_per_second}};
  }
  // Batch loses nothing by it: whatever arrives is done.
  const double batch = 1000 * model.batch_load / (model.partition_ms * model.batch_partitions);
  result.findings.push_back(
      near("interleaved: batch calls done", "calls/s", arms.back().batch_per_second, Source::closed_form, batch, 0.05));
  result.tables.push_back(std::move(table));
  result.charts.push_back(chart_of(arms,
                                   "On one worker, 20 % of the time for interactive queries of one partition and 50 % for batch "
                                   "calls of 16. Classes alone leave "
                                   "the wait for the call that runs; cut into partitions, next to none is left."));
  result.settings = {{"partition_ms", model.partition_ms},
                     {"batch_partitions", model.batch_partitions},
                     {"interactive_load", model.interactive_load},
                     {"batch_load", model.batch_load},
                     {"queries", arms.front().latency.count()}};
  result.notes.push_back(
      "In the simulator batch has no workers of its own; a real leaf's has, and gives way to interactive work on the processor "
      "as well.");
  return result;
}

// Live: leaves of one worker that is held for each partition, so that the worker is what is scarce. A call in one go is
// one partition held as long as all of the call's would be, told apart by a word.
constexpr std::size_t live_leaves = 2, live_partitions = 32;
constexpr Duration live_hold = 4ms;
constexpr std::uint64_t whole_rank = 1000;  // of a word that some documents hold, and no made-up query asks for

result<ExperimentResult> live(const ExperimentRequest& request) {
  ExperimentResult result;
  const std::string whole_word = synthetic_word(whole_rank);
  // Batch in one class with interactive would be shed as interactive load: its class is what the first arm lacks.
  LiveCluster cluster(
      request, {.leaves = live_leaves, .partitions = live_partitions, .replicas = 1, .root_arguments = {"--admission=fixed"}});
  const auto per_leaf = static_cast<double>(live_partitions) / static_cast<double>(live_leaves);
  const Duration whole = Duration(static_cast<Duration::rep>(per_leaf * static_cast<double>(live_hold.count())));
  cluster.set_faults(nlohmann::json::array(
      {{{"kind", "hold"}, {"delay", format_duration(live_hold)}, {"work", {"search"}}},
       {{"kind", "hold"}, {"delay", format_duration(whole - live_hold)}, {"work", {"search"}}, {"word", whole_word}}}));
  // Each leaf is busy for a fifth of its time with interactive queries, and for half of it with batch.
  const double interactive = 0.2 / to_seconds(live_hold) * static_cast<double>(live_leaves);
  const double batch = 0.5 / to_seconds(whole);
  const LiveLoad asks{.parameters = {{"fanout", "1"}, {"hedge", "off"}, {"deadline", "10s"}},
                      .rate = interactive,
                      .duration = scaled(90s, request),
                      .warm_up = 2s,
                      .seed = request.seed};
  struct LiveArm {
    Way way;
    std::vector<LiveLoad> loads;
  };
  LiveLoad calls{.parameters = {{"hedge", "off"}, {"deadline", "10s"}},
                 .rate = batch,
                 .duration = asks.duration + 2s,
                 .warm_up = 0s,
                 .seed = request.seed + 1};
  LiveLoad whole_calls = calls;
  whole_calls.rate = batch * static_cast<double>(live_leaves);  // of one leaf each
  for (std::uint64_t i = 0; i < 200; ++i) whole_calls.queries.push_back(made_up_query(i) + " " + whole_word);
  whole_calls.parameters.emplace_back("fanout", "1");
  LiveLoad batch_whole = whole_calls, batch_calls = calls;
  batch_whole.parameters.emplace_back("class", "batch");
  batch_calls.parameters.emplace_back("class", "batch");
  const std::vector<LiveArm> plan{{Way::alone, {asks}},
                                  {Way::one_class, {asks, whole_calls}},
                                  {Way::by_class, {asks, batch_whole}},
                                  {Way::interleaved, {asks, batch_calls}}};

  std::vector<Arm> arms;
  report::Table table{
      "Interactive queries of one partition, beside batch",
      {{"", false}, {"mean (ms)", true}, {"p50 (ms)", true}, {"p99 (ms)", true}, {"p99.9 (ms)", true}, {"batch calls/s", true}},
      {}};
  for (const LiveArm& one : plan) {
    request.say(name_of(one.way));
    const auto runs = cluster.loads(one.loads);
    Arm arm{one.way};
    arm.latency = runs.front().latency();
    if (runs.size() > 1) arm.batch_per_second = static_cast<double>(runs[1].with_status(200)) / to_seconds(one.loads[1].duration);
    table.rows.push_back({name_of(arm.way), figure(arm.mean_ms()), figure(arm.quantile_ms(0.5)), figure(arm.quantile_ms(0.99)),
                          figure(arm.quantile_ms(0.999)), figure(arm.batch_per_second)});
    result.figures[name_of(arm.way)] = {{"mean_ms", arm.mean_ms()},
                                        {"p50_ms", arm.quantile_ms(0.5)},
                                        {"p99_ms", arm.quantile_ms(0.99)},
                                        {"p999_ms", arm.quantile_ms(0.999)},
                                        {"batch_per_second", arm.batch_per_second}};
    arms.push_back(std::move(arm));
  }
  // A real leaf has workers for batch besides, so that two classes never wait for each other: no closed form, but bars.
  result.findings.push_back(at_least("one class: p99, as a multiple of that without batch", "",
                                     arms[1].quantile_ms(0.99) / arms[0].quantile_ms(0.99), Source::own, 2));
  result.findings.push_back(at_most("interleaved: p99, as a multiple of that without batch", "",
                                    arms[3].quantile_ms(0.99) / arms[0].quantile_ms(0.99), Source::own, 1.5));
  result.findings.push_back(at_most("interleaved: p99, as a share of that in one class", "%",
                                    100 * arms[3].quantile_ms(0.99) / arms[1].quantile_ms(0.99), Source::own, 50));
  result.findings.push_back(
      at_least("interleaved: batch calls done, of those asked", "%", 100 * arms[3].batch_per_second / batch, Source::own, 90));
  result.tables.push_back(std::move(table));
  result.charts.push_back(chart_of(arms, "Two leaves of one worker, which is held for each partition."));
  result.notes.push_back(
      "\"In one go\" is made by a fault: a batch call of one partition that holds the worker as long as all of the leaf's "
      "partitions together.");
  cluster.describe(result);
  return result;
}

}  // namespace
}  // namespace classes

namespace {

// lambda E[S^2] / 2 of work of one length, from its utilisation.
double residual_ms(double load, double length_ms) { return load * length_ms / 2; }

}  // namespace

double wait_alone_ms(const ClassesModel& model) {
  return residual_ms(model.interactive_load, model.partition_ms) / (1 - model.interactive_load);
}

double wait_in_one_class_ms(const ClassesModel& model) {
  const double residual = residual_ms(model.interactive_load, model.partition_ms) +
                          residual_ms(model.batch_load, model.partition_ms * model.batch_partitions);
  return residual / (1 - model.interactive_load - model.batch_load);
}

double wait_by_class_ms(const ClassesModel& model) {
  const double residual = residual_ms(model.interactive_load, model.partition_ms) +
                          residual_ms(model.batch_load, model.partition_ms * model.batch_partitions);
  return residual / (1 - model.interactive_load);
}

double wait_interleaved_ms(const ClassesModel& model) {
  return residual_ms(model.interactive_load + model.batch_load, model.partition_ms) / (1 - model.interactive_load);
}

Experiment classes_experiment() {
  return {"classes",
          "How long do interactive queries wait beside batch calls of many partitions: in one class, in two, and with partitions "
          "that interleave?",
          "With two classes whose work interleaves by partition, they wait for one partition at most; with whole calls, for the "
          "call that runs.",
          "The Tail at Scale, \"service classes\" and \"head-of-line blocking\"; Pollaczek and Khinchine, Cobham",
          classes::simulated,
          classes::live};
}

}  // namespace hedgerow::lab
