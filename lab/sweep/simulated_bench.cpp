#include <algorithm>
#include <cmath>
#include <map>

#include "lab/simulation/fault_file.hpp"
#include "lab/simulation/simulation.hpp"
#include "lab/sweep/bench.hpp"
#include "root/search_parameters.hpp"

namespace hedgerow::lab::sweep {

namespace {

using simulation::WorldSettings;

// What a policy may say that the simulator knows.
constexpr const char* simulated_parameters[] = {"hedge", "tied", "min_completeness", "patience", "class", "partial"};

Error wrong(const std::string& what) { return {Errc::invalid_argument, what}; }

result<simulation::QueryShape> shape_of(const Policy& policy) {
  std::vector<std::pair<std::string, std::string>> parameters{{"q", "word"}};
  for (const auto& parameter : policy.parameters) {
    const bool known = std::any_of(std::begin(simulated_parameters), std::end(simulated_parameters),
                                   [&](const char* name) { return parameter.first == name; });
    // What is switched off is not there anyway.
    if (!known && parameter.second != "off") return wrong("policy '" + policy.name + "': the simulator knows no " + parameter.first);
    parameters.push_back(parameter);
  }
  const auto parsed = root::parse_parameters(parameters, {});
  if (parsed.has_error()) return wrong("policy '" + policy.name + "': " + parsed.error().detail);
  simulation::QueryShape shape;
  shape.hedge = parsed->hedge;
  shape.tied = parsed->tied;
  shape.good_enough = parsed->good_enough;
  shape.service_class = parsed->service_class;
  shape.partial = parsed->partial == root::PartialAnswers::allow;
  return shape;
}

std::uint64_t count_in(double rate, Duration time) { return static_cast<std::uint64_t>(std::llround(rate * to_seconds(time))); }

class SimulatedBench final : public Bench {
 public:
  // The world of a plan, but for what its points say.
  static result<std::unique_ptr<Bench>> make(const SweepPlan& plan) {
    auto bench = std::unique_ptr<SimulatedBench>(new SimulatedBench);
    WorldSettings& world = bench->world_;
    const SimulatedWorld& wanted = *plan.simulated;
    world.leaves = wanted.leaves;
    world.partitions = wanted.partitions;
    world.replicas = wanted.replicas;
    world.workers = wanted.workers;
    auto service = simulation::ServiceTime::parse(wanted.service), network = simulation::ServiceTime::parse(wanted.network);
    if (service.has_error()) return wrong("simulated.service: " + service.error().context);
    if (network.has_error()) return wrong("simulated.network: " + network.error().context);
    world.service = std::move(*service);
    world.network = std::move(*network);
    world.rate = plan.load.rate;
    world.queries = count_in(plan.load.rate, plan.load.duration);
    world.warm_up = count_in(plan.load.rate, plan.load.warm_up);
    if (world.queries == 0) return wrong("load.duration: at this rate no query comes in it");
    if (plan.load.arrivals != ArrivalShape::poisson) return wrong("load.arrivals: the simulator's are poisson");
    if (plan.quality.wanted()) return wrong("quality: simulated leaves find nothing that could be judged");
    for (const Policy& policy : plan.policies) {
      auto shape = shape_of(policy);
      if (shape.has_error()) return shape.error();
      bench->shapes_.emplace(policy.name, Wanted{std::move(*shape), policy.hedge_budget_fill, policy.hedge_budget_depth});
    }
    for (const FaultSet& faults : plan.faults) {
      auto parsed = simulation::parse_faults(faults.faults.dump());
      if (parsed.has_error()) return wrong("faults '" + faults.name + "': " + parsed.error().context);
      bench->faults_.emplace(faults.name, std::move(*parsed));
    }
    for (const SweepPoint& point : points_of(plan)) {
      const auto problem = simulation::settings_error(bench->world_of(point, 1));
      if (!problem.empty()) return wrong(to_text(point) + ": " + problem);
      if (point.fanout && *point.fanout > world.partitions) return wrong("fanouts: there are only " + std::to_string(world.partitions) + " partitions");
    }
    return std::unique_ptr<Bench>(std::move(bench));
  }

  result<Figures> run(const SweepPoint& point, const ScheduledRun& scheduled) override {
    const auto report = simulation::simulate(world_of(point, scheduled.seed));
    if (report.violated > 0) return Error{Errc::internal, "the simulator found a law broken: " + report.violations.front()};
    const auto& measured = report.measured;
    Figures figures;
    figures.queries = measured.queries + measured.refused;
    figures.answered = measured.queries;
    figures.refused = measured.refused;
    set_latencies(figures, measured.latency);
    if (measured.partitions > 0) figures.completeness = measured.completeness() * figures.answered_share().value_or(0);
    if (measured.first_attempts > 0) figures.extra_attempts = measured.extra_share();
    return figures;
  }

 private:
  SimulatedBench() = default;

  WorldSettings world_of(const SweepPoint& point, std::uint64_t seed) const {
    WorldSettings world = world_;
    const Wanted& wanted = shapes_.at(point.policy);
    world.seed = seed;
    world.shapes = {wanted.shape};
    world.shapes.front().deadline = point.deadline;
    world.shapes.front().width = point.fanout.value_or(0);
    if (wanted.budget_fill) world.policies.hedge.budget_fill = *wanted.budget_fill;
    if (wanted.budget_depth) world.policies.hedge.budget_depth = *wanted.budget_depth;
    world.faults = faults_.at(point.faults);
    return world;
  }

  struct Wanted {
    simulation::QueryShape shape;
    std::optional<double> budget_fill, budget_depth;
  };
  WorldSettings world_;
  std::map<std::string, Wanted> shapes_;
  std::map<std::string, std::vector<simulation::Fault>> faults_;
};

}  // namespace

result<std::unique_ptr<Bench>> simulated_bench(const SweepPlan& plan) { return SimulatedBench::make(plan); }

}  // namespace hedgerow::lab::sweep
