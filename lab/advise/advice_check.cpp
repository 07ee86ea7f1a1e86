#include "lab/advise/advice_check.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/advise/advice_words.hpp"
#include "lab/advise/worded.hpp"
#include "lab/simulation/simulation.hpp"
#include "root/policy/cluster/hedge_planner.hpp"

namespace hedgerow::lab {

namespace {

using policy::HedgeChoice;
using simulation::Report;
using simulation::ServiceTime;
using simulation::WorldSettings;

// Under load the simulated quantile rests on this many queries beyond it, at least.
constexpr double fewest_queries_beyond_under_load = 50;
// Of two simulated targets that differ by less nothing follows.
constexpr double noise = 0.05;
constexpr std::uint64_t warm_up = 20'000, warm_up_under_load = 5'000;
constexpr double rate_without_queues = 1'000;
constexpr std::size_t leaves_for_each_asked = 5;
constexpr std::size_t most_partitions = 1'000;
constexpr double checked_loads[] = {0.2, 0.35, 0.5, 0.65, 0.8, 0.9};

// Latencies as the samples tell of them, given up or not, shortened to this part.
ServiceTime service_from(const AttemptTail& tail, double part) {
  std::vector<Distribution::Sample> samples;
  const policy::LatencyCurve curve = tail.curve();
  double before = 1;
  for (const auto& step : curve.steps) {
    samples.push_back({from_milliseconds(to_milliseconds(step.time) * part), before - step.unanswered});
    before = step.unanswered;
  }
  // What never answered is at least as late as the latest that did.
  if (!samples.empty()) samples.back().weight += before;
  const auto made = Distribution::empirical(std::move(samples));
  return made.has_value() ? *made : Distribution::constant(tail.last());
}

HedgeChoice off() {
  HedgeChoice choice;
  choice.mode = HedgeChoice::Mode::off;
  return choice;
}

// As the advice has it: by the root's planner, or with the delay that was to be judged.
HedgeChoice hedging(const AdviceQuestion& question) {
  HedgeChoice choice;
  if (question.delays.empty()) return choice;
  choice.mode = HedgeChoice::Mode::fixed;
  choice.delay = question.delays.front();
  return choice;
}

WorldSettings world_of(const AdviceQuestion& question, const Advice& advice, std::size_t leaves, std::uint64_t seed) {
  WorldSettings world;
  world.seed = seed;
  world.leaves = world.partitions = std::max(leaves, question.replicas);
  world.replicas = question.replicas;
  world.queue_capacity = 1'000'000;
  world.shapes.front().width = question.width;
  auto& hedge = world.policies.hedge;
  hedge.most_hedges = question.delays.empty() ? std::min(question.most_hedges, question.replicas - 1) : question.delays.size();
  hedge.budget_fill = question.delays.empty() ? question.budget : 1;
  hedge.target_quantile = question.target;
  hedge.shortest_delay = advice.shortest_delay;
  hedge.brakes = policy::HedgeBrakes::off;
  return world;
}

// A line of four figures, some of which may not be known.
std::string figures_line(const std::string& name, const std::optional<double>& predicted_without, double simulated_without,
                         const std::optional<double>& predicted_with, const std::optional<double>& simulated_with) {
  const auto figure = [](const std::optional<double>& value) { return value ? worded("%.4g", *value) : std::string("-"); };
  return worded("%-12s %12s %11s %15s %11s\n", name.c_str(), figure(predicted_without).c_str(), figure(simulated_without).c_str(),
                figure(predicted_with).c_str(), figure(simulated_with).c_str());
}

class Checker {
 public:
  Checker(const AdviceQuestion& question, const Advice& advice, const AdviceCheckSettings& settings)
      : question_(question),
        advice_(advice),
        settings_(settings),
        tail_(question.latencies, question.given_up, question.samples_of == SamplesOf::queries ? question.width : 1) {
    check_.seed = settings.seed;
    check_.target = question.target;
    // The simulator's replicas are slow independently, whatever was asked.
    hedges_ = advice.hedges;
    hedges_.shared = 0;
    check_.predicted_extra = extra_attempts(hedges_, [&](Duration t) { return tail_.after(t); });
  }

  AdviceCheck check() {
    without_queues();
    if (settings_.attempts_under_load > 0 && advice_.load_model && advice_.harmful && question_.delays.empty()) under_load();
    return std::move(check_);
  }

 private:
  Report run(WorldSettings world, const HedgeChoice& hedge) {
    world.shapes.front().hedge = hedge;
    Report report = simulation::simulate(world);
    check_.violated += report.violated;
    return report;
  }

  void without_queues() {
    WorldSettings world = world_of(question_, advice_, question_.width, settings_.seed);
    world.workers = 0;
    world.service = service_from(tail_, 1);
    world.rate = rate_without_queues;
    world.warm_up = warm_up;
    world.queries = std::clamp<std::uint64_t>(settings_.attempts / question_.width, 20'000, 400'000);
    world.shapes.front().deadline = 3 * tail_.last() + std::chrono::seconds(10);
    check_.queries = world.queries;
    const Report without = run(world, off());
    const bool hedges = !hedges_.delays.empty();
    std::optional<Report> with;
    if (hedges) with = run(world, hedging(question_));
    for (const QuantileAdvice& each : advice_.quantiles) {
      AdviceCheck::Figure figure{each.quantile, {}, without.measured.quantile_ms(each.quantile), {}, {}};
      if (with) figure.simulated_with_ms = with->measured.quantile_ms(each.quantile);
      // Without what a query takes beside its attempts, which is nothing here.
      const double late = policy::late_share(each.quantile, question_.width);
      if (const auto time = time_until(tail_, {}, late, question_.confidence).time) figure.predicted_without_ms = to_milliseconds(*time);
      if (const auto time = time_until(tail_, hedges_, late, question_.confidence).time; time && hedges) figure.predicted_with_ms = to_milliseconds(*time);
      check_.figures.push_back(figure);
    }
    if (with) check_.simulated_extra = with->measured.extra_share();
  }

  void under_load() {
    const LoadModel& model = *advice_.load_model;
    const HarmfulLoad& harmful = *advice_.harmful;
    check_.lowest_harmful = std::min(harmful.independent, harmful.alike);
    const double service_seconds = to_seconds(model.mean_service());
    if (service_seconds <= 0) return;

    WorldSettings world = world_of(question_, advice_, leaves_for_each_asked * question_.width, settings_.seed);
    world.workers = question_.workers;
    world.service = service_from(tail_, to_milliseconds(model.mean_service()) / to_milliseconds(model.mean_latency()));
    world.warm_up = warm_up_under_load;
    world.queries = std::clamp<std::uint64_t>(settings_.attempts_under_load / question_.width, 10'000, 100'000);
    world.policies.replica_choice.mode = policy::ReplicaChoiceSettings::Mode::random;
    world.shapes.front().deadline = 20 * tail_.last() + std::chrono::seconds(100);
    check_.quantile_under_load = std::min(harmful.quantile, 1 - fewest_queries_beyond_under_load / static_cast<double>(world.queries));

    HedgingWish wish{question_.width, std::min(question_.most_hedges, question_.replicas - 1),
                     policy::late_share(check_.quantile_under_load, question_.width), question_.budget, advice_.shortest_delay, 0};
    for (const double load : checked_loads) {
      if (load < model.measured_load()) continue;
      const LoadPoint predicted = hedged_at(model, wish, load);
      // A leaf gets its share of the attempts, and works so long on each.
      const double attempts_each = static_cast<double>(question_.width) / static_cast<double>(world.leaves);
      world.rate = load * static_cast<double>(world.workers) / (attempts_each * service_seconds);
      world.policies.hedge.target_quantile = check_.quantile_under_load;
      const Report without = run(world, off()), with = run(world, HedgeChoice{});
      AdviceCheck::Loaded row{load, to_milliseconds(predicted.without), {}, without.measured.quantile_ms(check_.quantile_under_load),
                              with.measured.quantile_ms(check_.quantile_under_load), with.measured.extra_share()};
      if (predicted.with != Duration::max()) row.predicted_with_ms = to_milliseconds(predicted.with);
      check_.loads.push_back(row);
    }
  }

  const AdviceQuestion& question_;
  const Advice& advice_;
  const AdviceCheckSettings& settings_;
  AttemptTail tail_;
  Hedges hedges_;
  AdviceCheck check_;
};

}  // namespace

std::optional<Error> problem_with_check(const AdviceQuestion& question) {
  if (question.width > most_partitions) return Error{Errc::invalid_argument, "--check simulates a width of 1000 at most"};
  for (std::size_t i = 0; i < question.delays.size(); ++i) {
    if (question.delays[i] == question.delays.front() * static_cast<Duration::rep>(i + 1)) continue;
    return Error{Errc::invalid_argument, "--check simulates further delays that are multiples of the first"};
  }
  if (!question.delays.empty() && question.delays.front() <= Duration{}) return Error{Errc::invalid_argument, "--check simulates delays above 0"};
  return std::nullopt;
}

AdviceCheck check_advice(const AdviceQuestion& question, const Advice& advice, const AdviceCheckSettings& settings) {
  return Checker(question, advice, settings).check();
}

std::optional<double> AdviceCheck::difference() const {
  for (const Figure& figure : figures) {
    if (std::abs(figure.quantile - target) > 1e-9 || !figure.simulated_with_ms || !figure.predicted_with_ms || *figure.predicted_with_ms <= 0) continue;
    return *figure.simulated_with_ms / *figure.predicted_with_ms - 1;
  }
  return std::nullopt;
}

std::vector<std::string> AdviceCheck::disagreements() const {
  std::vector<std::string> out;
  if (const auto far = difference(); far && std::abs(*far) > bearable_difference) {
    out.push_back(quantile_text(target) + " of queries with hedges is " + percent_text(std::abs(*far)) + (*far > 0 ? " above" : " below") + " what was predicted");
  }
  for (const Loaded& each : loads) {
    if (each.load >= lowest_harmful || each.simulated_with_ms <= (1 + noise) * each.simulated_without_ms) continue;
    out.push_back("at a load of " + percent_text(each.load) + ", which is below what was called harmful, hedging harms");
  }
  if (violated > 0) out.push_back("the simulator broke its own invariants");
  return out;
}

nlohmann::json AdviceCheck::to_json() const {
  const auto or_null = [](const std::optional<double>& value) { return value ? nlohmann::json(*value) : nlohmann::json(); };
  nlohmann::json out = {{"seed", seed}, {"queries", queries}, {"tolerance", bearable_difference}};
  out["difference_at_target"] = or_null(difference());
  out["extra_share"] = {{"predicted", predicted_extra}, {"simulated", simulated_extra}};
  out["quantiles"] = nlohmann::json::array();
  for (const Figure& figure : figures) {
    out["quantiles"].push_back({{"quantile", figure.quantile},
                                {"without", {{"predicted_ms", or_null(figure.predicted_without_ms)}, {"simulated_ms", figure.simulated_without_ms}}},
                                {"with", {{"predicted_ms", or_null(figure.predicted_with_ms)}, {"simulated_ms", or_null(figure.simulated_with_ms)}}}});
  }
  out["loads"] = nlohmann::json::array();
  for (const Loaded& each : loads) {
    out["loads"].push_back({{"load", each.load},
                            {"quantile", quantile_under_load},
                            {"without", {{"predicted_ms", each.predicted_without_ms}, {"simulated_ms", each.simulated_without_ms}}},
                            {"with", {{"predicted_ms", or_null(each.predicted_with_ms)}, {"simulated_ms", each.simulated_with_ms}}},
                            {"simulated_extra_share", each.simulated_extra}});
  }
  out["disagreements"] = disagreements();
  out["agrees"] = disagreements().empty();
  return out;
}

std::string AdviceCheck::to_text() const {
  std::string text = "Checked against the simulator, " + std::to_string(queries) + " queries, seed " + std::to_string(seed) + " (ms)\n";
  text += "                without hedges              with hedges\n";
  text += "queries         predicted   simulated       predicted   simulated\n";
  for (const Figure& figure : figures) {
    text += figures_line(quantile_text(figure.quantile), figure.predicted_without_ms, figure.simulated_without_ms, figure.predicted_with_ms, figure.simulated_with_ms);
  }
  text += "more attempts   " + percent_text(predicted_extra) + " predicted, " + percent_text(simulated_extra) + " simulated\n";
  if (!loads.empty()) text += "under load, " + rough_quantile_text(quantile_under_load) + " of queries where waits are independent\n";
  for (const Loaded& each : loads) {
    text += figures_line(percent_text(each.load), each.predicted_without_ms, each.simulated_without_ms, each.predicted_with_ms, each.simulated_with_ms);
  }
  const auto wrong = disagreements();
  text += wrong.empty() ? "It agrees.\n" : "It does not agree:\n";
  for (const auto& each : wrong) text += "  " + each + "\n";
  return text;
}

}  // namespace hedgerow::lab
