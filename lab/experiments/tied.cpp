#include "lab/experiments/tied.hpp"

#include <cassert>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab {

namespace {

// The paper's Table 2, milliseconds.
constexpr LatencyRow paper_idle{19, 38, 67, 98}, paper_idle_tied{16, 29, 42, 61};
constexpr LatencyRow paper_busy{24, 56, 108, 159}, paper_busy_tied{19, 38, 67, 108};
constexpr double table_tolerance = 0.1;
constexpr double most_extra_work = 0.01;

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

nlohmann::json to_json(const LatencyRow& row) {
  nlohmann::json out;
  for (std::size_t i = 0; i < row.size(); ++i) out[figure_names[i]] = row[i];
  return out;
}

nlohmann::json to_json(const TiedRun& run, const LatencyRow& paper) {
  nlohmann::json out = to_json(run.latency_ms);
  out["paper"] = to_json(paper);
  out["extra_work_share"] = run.extra_work;
  out["extra_share_of_all_work"] = run.extra_of_all_work;
  out["both_began_share"] = run.both_began;
  out["utilisation"] = run.utilisation;
  out["violated"] = run.violated;
  return out;
}

nlohmann::json to_json(const ReadModelFit& fit) {
  return {{"phases", fit.model.phases},
          {"mean_ms", to_milliseconds(fit.model.mean)},
          {"idle_utilisation", fit.model.idle_utilisation},
          {"busy_utilisation", fit.model.busy_utilisation},
          {"root_mean_square_error", fit.root_mean_square},
          {"idle", to_json(fit.idle_ms)},
          {"busy", to_json(fit.busy_ms)}};
}

__attribute__((format(printf, 1, 2))) std::string print(const char* format, ...) {
  char line[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(line, sizeof line, format, values);
  va_end(values);
  return line;
}

std::string table_line(const char* name, const LatencyRow& row, const LatencyRow& paper) {
  std::string line = print("%-14s", name);
  for (std::size_t i = 0; i < row.size(); ++i) line += print(" %6.1f (%3.0f)", row[i], paper[i]);
  return line;
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

std::vector<std::string> TiedExperiment::disagreements() const {
  std::vector<std::string> found;
  const auto compare = [&](const char* name, const TiedRun& run, const LatencyRow& paper, bool may_be_lower) {
    for (std::size_t i = 0; i < paper.size(); ++i) {
      const double ratio = run.latency_ms[i] / paper[i];
      if (ratio <= 1 + table_tolerance && (may_be_lower || ratio >= 1 - table_tolerance)) continue;
      found.push_back(print("%s: %s is %.1f, the paper's %.0f", name, figure_names[i], run.latency_ms[i], paper[i]));
    }
    if (run.extra_work >= most_extra_work) found.push_back(print("%s: %.2f %% of extra work", name, 100 * run.extra_work));
    if (run.violated > 0) found.push_back(print("%s: invariants were broken", name));
  };
  compare("idle", idle, paper_idle, false);
  compare("idle, tied", idle_tied, paper_idle_tied, true);
  compare("busy", busy, paper_busy, false);
  compare("busy, tied", busy_tied, paper_busy_tied, true);
  return found;
}

nlohmann::json TiedExperiment::to_json() const {
  nlohmann::json out;
  out["seed"] = settings.seed;
  out["reads"] = settings.reads;
  out["leaves"] = settings.leaves;
  out["replicas"] = settings.replicas;
  out["read_utilisation"] = settings.read_utilisation;
  out["one_way_ms"] = to_milliseconds(settings.one_way);
  out["model"] = lab::to_json(fit);
  for (const ReadModelFit& other : fits) out["fits"].push_back(lab::to_json(other));
  out["idle"] = lab::to_json(idle, paper_idle);
  out["idle_tied"] = lab::to_json(idle_tied, paper_idle_tied);
  out["busy"] = lab::to_json(busy, paper_busy);
  out["busy_tied"] = lab::to_json(busy_tied, paper_busy_tied);
  out["disagreements"] = disagreements();
  out["agrees"] = agrees();
  return out;
}

std::string TiedExperiment::to_text() const {
  std::string text = "fitted to the paper's untied figures (phases, mean, utilisation idle and busy, error):\n";
  for (const ReadModelFit& other : fits) {
    text += print("  %2d  %5.2f ms  %.3f  %.3f  %.2f %%%s\n", other.model.phases, to_milliseconds(other.model.mean),
                  other.model.idle_utilisation, other.model.busy_utilisation, 100 * other.root_mean_square,
                  other.model.phases == fit.model.phases ? "  <- simulated" : "");
  }
  text += print("%-14s %12s %12s %12s %12s   in ms, the paper's in brackets\n", "", "p50", "p90", "p99", "p99.9");
  const auto add = [&text](const char* name, const TiedRun& run, const LatencyRow& paper) {
    text += table_line(name, run.latency_ms, paper) + print("   extra work %.2f %%\n", 100 * run.extra_work);
  };
  add("idle", idle, paper_idle);
  add("idle, tied", idle_tied, paper_idle_tied);
  add("busy", busy, paper_busy);
  add("busy, tied", busy_tied, paper_busy_tied);
  for (const std::string& line : disagreements()) text += line + "\n";
  if (agrees()) text += "agrees with the paper\n";
  return text;
}

}  // namespace hedgerow::lab
