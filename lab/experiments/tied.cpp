#include "lab/experiments/tied.hpp"

#include <cassert>
#include <nlohmann/json.hpp>

#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace {

constexpr LatencyRow simulated_tolerance{0.1, 0.1, 0.1, 0.1};
constexpr double most_extra_percent = 1;

// Nothing in this experiment is ever late. Reads and other work have it alike, so that they are served in the order in
// which they came.
constexpr Duration deadline = std::chrono::seconds(10);

simulation::WorldSettings world(const TiedSettings& settings, const ReadModel& model, double utilisation, bool tied) {
  assert(utilisation >= settings.read_utilisation);
  const double busy_seconds = model.service().mean_seconds();

  simulation::WorldSettings world;
  world.seed = settings.seed;
  world.leaves = settings.leaves;
  world.partitions = settings.leaves;
  world.replicas = settings.replicas;
  world.workers = 1;
  world.queue_capacity = 100'000;  // never full
  world.service = model.service();
  world.background.service = model.service();
  world.background.rate = (utilisation - settings.read_utilisation) / busy_seconds;
  world.background.service_class = ServiceClass::interactive;
  world.background.deadline = deadline;
  world.network = simulation::ServiceTime::constant(settings.one_way);
  world.rate = settings.read_utilisation * static_cast<double>(settings.leaves) / busy_seconds;
  world.queries = settings.reads;
  world.warm_up = settings.reads / 20;

  simulation::QueryShape& read = world.shapes.front();
  read.width = 1;
  read.deadline = deadline;
  read.hedge.mode = policy::HedgeChoice::Mode::off;
  read.tied = tied;
  world.policies.replica_choice.mode = policy::ReplicaChoiceSettings::Mode::random;
  // Probes would be extra work of another kind.
  world.policies.replica_choice.probe_share = 0;
  world.policies.replica_choice.probe_burst = 0;
  return world;
}

TiedRun run(const TiedSettings& settings, const ReadModel& model, double utilisation, bool tied) {
  const simulation::Report report = simulation::simulate(world(settings, model, utilisation, tied));
  const simulation::LeafFigures& leaves = report.leaves;
  const double worked = to_seconds(leaves.executed + leaves.background);
  TiedRun run;
  for (std::size_t i = 0; i < table_shares.size(); ++i) run.latency_ms[i] = report.measured.quantile_ms(table_shares[i]);
  run.extra_work = leaves.extra_work();
  run.extra_of_all_work = to_seconds(leaves.executed - leaves.merged) / worked;
  run.both_began = static_cast<double>(leaves.both_began) / static_cast<double>(report.queries);
  run.utilisation = worked / (to_seconds(report.simulated) * static_cast<double>(settings.leaves));
  run.violated = report.violated;
  return run;
}

constexpr std::array figure_names{"p50_ms", "p90_ms", "p99_ms", "p999_ms"};
constexpr std::array quantile_names{"p50", "p90", "p99", "p99.9"};

nlohmann::json read_json(const LatencyRow& row) {
  nlohmann::json out;
  for (std::size_t i = 0; i < row.size(); ++i) out[figure_names[i]] = row[i];
  return out;
}

nlohmann::json read_json(const TiedRun& run, const LatencyRow& paper) {
  nlohmann::json out = read_json(run.latency_ms);
  out["paper"] = read_json(paper);
  out["extra_work_share"] = run.extra_work;
  out["extra_share_of_all_work"] = run.extra_of_all_work;
  out["both_began_share"] = run.both_began;
  out["utilisation"] = run.utilisation;
  out["violated"] = run.violated;
  return out;
}

nlohmann::json read_json(const ReadModelFit& fit) {
  return {{"phases", fit.model.phases},
          {"mean_ms", to_milliseconds(fit.model.mean)},
          {"idle_utilisation", fit.model.idle_utilisation},
          {"busy_utilisation", fit.model.busy_utilisation},
          {"root_mean_square_error", fit.root_mean_square},
          {"idle", read_json(fit.idle_ms)},
          {"busy", read_json(fit.busy_ms)}};
}

}  // namespace

TiedExperiment run_tied_experiment(const TiedSettings& settings) {
  TiedExperiment experiment;
  experiment.settings = settings;
  experiment.fits = fit_read_models(paper_idle, paper_busy, 2 * settings.one_way);
  experiment.fit = best_fit(experiment.fits);
  const ReadModel& model = experiment.fit.model;
  experiment.idle = run(settings, model, model.idle_utilisation, false);
  experiment.idle_tied = run(settings, model, model.idle_utilisation, true);
  experiment.busy = run(settings, model, model.busy_utilisation, false);
  experiment.busy_tied = run(settings, model, model.busy_utilisation, true);
  return experiment;
}

std::vector<Finding> judge_reads(const std::vector<ReadRow>& rows, const std::string& how, const LatencyRow& by) {
  std::vector<Finding> findings;
  for (const ReadRow& row : rows) {
    for (std::size_t i = 0; i < row.measured_ms.size(); ++i) {
      const std::string claim = row.name + ", " + how + ": " + quantile_names[i];
      if (!row.tied) {
        findings.push_back(near(claim, "ms", row.measured_ms[i], Source::paper, row.paper_ms[i], by[i]));
        continue;
      }
      findings.push_back(at_most(claim, "ms", row.measured_ms[i], Source::paper, row.paper_ms[i] * (1 + by[i])));
      findings.back().expected = row.paper_ms[i];
    }
    findings.push_back(
        at_most(row.name + ", " + how + ": work in vain", "%", row.work_in_vain_percent, Source::paper, most_extra_percent));
  }
  return findings;
}

std::vector<ReadRow> TiedExperiment::rows() const {
  return {{"idle", idle.latency_ms, paper_idle, false, 100 * idle.extra_work},
          {"idle, tied", idle_tied.latency_ms, paper_idle_tied, true, 100 * idle_tied.extra_work},
          {"busy", busy.latency_ms, paper_busy, false, 100 * busy.extra_work},
          {"busy, tied", busy_tied.latency_ms, paper_busy_tied, true, 100 * busy_tied.extra_work}};
}

std::vector<Finding> TiedExperiment::findings() const {
  auto findings = judge_reads(rows(), "simulated", simulated_tolerance);
  const std::uint64_t violated = idle.violated + idle_tied.violated + busy.violated + busy_tied.violated;
  findings.push_back(at_most("simulated: invariants broken", "", static_cast<double>(violated), Source::own, 0));
  return findings;
}

nlohmann::json TiedExperiment::to_json() const {
  nlohmann::json out;
  out["seed"] = settings.seed;
  out["reads"] = settings.reads;
  out["leaves"] = settings.leaves;
  out["replicas"] = settings.replicas;
  out["read_utilisation"] = settings.read_utilisation;
  out["one_way_ms"] = to_milliseconds(settings.one_way);
  out["model"] = read_json(fit);
  for (const ReadModelFit& other : fits) out["fits"].push_back(read_json(other));
  out["idle"] = read_json(idle, paper_idle);
  out["idle_tied"] = read_json(idle_tied, paper_idle_tied);
  out["busy"] = read_json(busy, paper_busy);
  out["busy_tied"] = read_json(busy_tied, paper_busy_tied);
  return out;
}

}  // namespace hedgerow::lab
