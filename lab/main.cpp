// hedgerow-lab: a cluster on one machine, the load that is put on it, the quality of its answers, and the same policies in
// virtual time. This file is the command line alone.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/command_line.hpp"
#include "base/log.hpp"
#include "lab/advise/advise_options.hpp"
#include "lab/control_command.hpp"
#include "lab/evaluate.hpp"
#include "lab/experiment_command.hpp"
#include "lab/faults_command.hpp"
#include "lab/load_options.hpp"
#include "lab/replay_command.hpp"
#include "lab/simulate_command.hpp"
#include "lab/sweep/sweep_options.hpp"
#include "lab/up.hpp"

namespace {

using namespace hedgerow;
using namespace hedgerow::lab;

void add_up(CLI::App& app, UpSettings& up, int& status) {
  auto& command = *app.add_subcommand("up", "Run a cluster on this machine until Ctrl-C");
  command.add_option("--index", up.index, "The index directory (hedgerow-index build)")->required();
  command.add_option("--leaves", up.leaves, "Leaf processes")->capture_default_str();
  command.add_option("--replicas", up.replicas, "Copies of each partition, on different leaves")->capture_default_str();
  command.add_option("--spellers", up.spellers, "So many leaves serve spelling beside their partitions (default: two)");
  command.add_option("--port", up.port, "The root's port on 127.0.0.1; 0: any free one")->capture_default_str();
  command.add_option("--workers", up.workers, "Worker threads of each leaf (default: its share of the cores)")->check(CLI::PositiveNumber);
  command.add_flag("--allow-faults", up.allow_faults, "Leaves take injected faults");
  command.add_option("--faults", up.faults, "Faults that leaves have from the start: JSON, a file of it, or - for standard input");
  command.add_option("--leaf-arg", up.leaf_arguments, "A further argument of every leaf: --leaf-arg=--queue-capacity=16 (may be repeated)")
      ->expected(1)
      ->take_all();
  command.add_option("--root-arg", up.root_arguments, "A further argument of the root: --root-arg=--link-idle-time=5s (may be repeated)")
      ->expected(1)
      ->take_all();
  command.add_option("--state", up.state, "Directory for cluster.json, topology.json and logs (default: a fresh one)");
  command.add_option("--control-port", up.control_port, "The control API's port on 127.0.0.1; 0: any free one")
      ->capture_default_str();
  command.add_option("--query", up.queries, "Start, ask this once, print the answer, and end (may be repeated)")
      ->expected(1)
      ->take_all();
  command.add_option("--bin-dir", up.bin_dir, "Where hedgerow-leaf and hedgerow-root are (default: beside this program)");
  command.add_option("--log-level", up.log_level, "Of leaves and root: debug, info, warning, error, off")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
  add_duration_option(command, "--start-time", up.start_time, "How long the start may take");
  command.callback([&] { status = run_up(up); });
}

void add_control(CLI::App& app, ControlSettings& control, int& status) {
  const auto add = [&](const char* name, const char* help) -> CLI::App& {
    auto& command = *app.add_subcommand(name, help);
    command.add_option("--cluster", control.cluster, "The cluster file, or the state directory of `up`")->required();
    command.add_flag("--json", control.json, "JSON even on a terminal");
    return command;
  };
  add("ps", "How the processes of a cluster are").callback([&] { status = run_ps(control); });
  constexpr std::pair<const char*, const char*> actions[] = {
      {"stop", "Stop a process where it stands (SIGSTOP)"},
      {"continue", "Let a stopped process go on (SIGCONT)"},
      {"kill", "Kill a process (SIGKILL)"},
      {"terminate", "Ask a process to end (SIGTERM)"},
      {"restart", "End a process and start it again, at the same address"},
      {"start", "Start a process that has ended, at the same address"}};
  for (const auto& [name, help] : actions) {
    auto& command = add(name, help);
    command.add_option("name", control.process, "leaf-0, leaf-1, …, or root")->required();
    command.callback([&status, &control, action = std::string(name)] { status = run_action(control, action); });
  }
}

void add_faults(CLI::App& app, FaultsSettings& faults, int& status) {
  auto& command = *app.add_subcommand("faults", "List, set or clear the injected faults of a cluster's leaves");
  command.add_option("--cluster", faults.cluster, "The cluster file, or the state directory of `up`")->required();
  auto* set = command.add_option("--set", faults.set, "Faults in place of those there are: JSON, a file of it, or - for standard input");
  command.add_flag("--clear", faults.clear, "Clear all faults")->excludes(set);
  command.add_flag("--json", faults.json, "JSON even on a terminal");
  command.callback([&] { status = run_faults(faults); });
}

struct EvaluateArguments {
  EvaluateSettings settings;
  std::vector<std::string> parameters;
  std::string deadline;
  bool json = false;
};

void add_evaluate(CLI::App& app, EvaluateArguments& arguments, int& status) {
  auto& command = *app.add_subcommand("evaluate", "Measure answers against the judgements of a test collection");
  auto& settings = arguments.settings;
  command.add_option("--queries", settings.queries, "id<TAB>text, BEIR's JSON lines, or TREC topics")->required();
  command.add_option("--qrels", settings.qrels, "The judgements: TREC's qrels, or BEIR's table")->required();
  auto* target = command.add_option("--target", settings.target, "The root to ask: http://127.0.0.1:7080");
  auto* index = command.add_option("--index", settings.index, "Or an index directory, searched in this process");
  target->excludes(index);
  command.add_option("-k", settings.depth, "How many hits of each query are measured")
      ->check(CLI::Range(1u, 1000u))
      ->capture_default_str();
  command.add_flag("--as-typed", settings.as_typed,
                   "Ask queries as they stand: quotes, hyphens and operators count (default: only their words)");
  command.add_option("--run", settings.run, "Write what was found here, in TREC's run form");
  command.add_option("--tag", settings.tag, "The run's name, in its last column")->capture_default_str();
  for (CLI::Option* option :
       {command.add_option("--deadline", arguments.deadline, "The deadline of each query (--param deadline=…)"),
        command.add_option("--param", arguments.parameters, "A parameter of each query, name=value (may be repeated)")
            ->expected(1)
            ->take_all()
            ->check(name_and_value),
        command.add_option("--clients", settings.clients, "So many queries at once")
            ->check(CLI::Range(1, 1000))
            ->capture_default_str(),
        add_duration_option(command, "--time-limit", settings.time_limit,
                            "How long an answer may take before it counts as failed")}) {
    option->needs(target);
  }
  command.add_flag("--json", arguments.json, "The report as JSON");
  command.callback([&, target, index] {
    if (target->count() + index->count() == 0) throw CLI::ValidationError("evaluate", "give --target or --index");
    if (!arguments.deadline.empty()) settings.parameters.emplace_back("deadline", arguments.deadline);
    for (const auto& parameter : arguments.parameters) {
      const auto equals = parameter.find('=');
      settings.parameters.emplace_back(parameter.substr(0, equals), parameter.substr(equals + 1));
    }
    status = run_evaluate(settings, arguments.json);
  });
}

void add_simulated_leaves(CLI::App& command, SimulateSettings& simulate) {
  auto& world = simulate.world;
  command.add_option("--leaves", world.leaves, "Leaves")->check(CLI::Range(1, 100'000))->capture_default_str();
  command.add_option("--partitions", world.partitions, "Partitions")->check(CLI::Range(1, 100'000))->capture_default_str();
  command.add_option("--replicas", world.replicas, "Copies of each partition")->check(CLI::Range(1, 64))->capture_default_str();
  command.add_option("--workers", world.workers, "Workers of each leaf; 0: as many as there is work, and so no queue")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command.add_option("--queue-capacity", world.queue_capacity, "Attempts that may wait on a leaf")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command.add_option("--service", simulate.service, "How long an attempt takes: a distribution (see docs/operations.md)")
      ->capture_default_str();
  command.add_option("--slow-periods", simulate.slow_periods,
                     "Times in which a leaf is slow, EVERY,LASTING,FACTOR: 2s,100ms,4 (default: none)");
  command.add_option("--shared-slow-periods", simulate.shared_slow_periods, "The same, for all leaves at once (default: none)");
  command.add_option("--upkeep", simulate.upkeep,
                     "Upkeep of every leaf, meanwhile it begins no work: PERIOD,LENGTH,aligned or staggered: 10s,50ms,staggered (default: none)");
  command.add_option("--background-rate", world.background.rate, "Pieces of other work per second and leaf")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--background-service", simulate.background_service, "How long one takes (default: as an attempt does)");
  command.add_option("--network", simulate.network, "How long a frame takes one way: a distribution")->capture_default_str();
  command.add_option("--faults", simulate.faults, "A JSON file of faults, with when and where");
}

void add_simulate(CLI::App& app, SimulateSettings& simulate, int& status) {
  auto& command = *app.add_subcommand("simulate", "The root's policies and the leaf's queue in virtual time");
  auto& world = simulate.world;
  auto& shape = world.shapes.front();
  add_simulated_leaves(command, simulate);
  command.add_option("--roots", world.roots, "Roots, each with policies of its own")->check(CLI::Range(1, 1000))->capture_default_str();
  command.add_option("--rate", world.rate, "Queries per second, by a Poisson process")->check(CLI::PositiveNumber)->capture_default_str();
  command.add_option("--queries", world.queries, "Queries that are measured")->check(CLI::PositiveNumber)->capture_default_str();
  command.add_option("--warm-up", world.warm_up, "Queries before them")->capture_default_str();
  command.add_option("--fanout", shape.width, "Partitions that a query asks; 0: all")->capture_default_str();
  add_duration_option(command, "--deadline", shape.deadline, "Of each query", Duration(1));
  command.add_option("--hedge", simulate.hedge, "auto, off, a quantile such as p95, or a delay such as 10ms")->capture_default_str();
  command.add_option("--hedge-budget-fill", world.policies.hedge.budget_fill, "Hedges in the long run, as a share of the primary attempts")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--hedge-budget-depth", world.policies.hedge.budget_depth, "Hedges that can be saved up for a burst")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command.add_option("--most-hedges", world.policies.hedge.most_hedges, "Hedges of one partition, at most")
      ->check(CLI::Range(0, 63))
      ->capture_default_str();
  command.add_option("--tied", simulate.tied, "on: every partition is asked of two replicas, tied")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command.add_option("--admission", simulate.admission, "on: the root lets in as many queries as get on; off: all")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command.add_option("--canaries", simulate.canaries, "on: a query that nobody asked before runs on one leaf first")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  command.add_option("--texts", shape.texts, "For --canaries: so many different queries are asked; 0: each is new")->capture_default_str();
  command.add_option("--replica-choice", simulate.replica_choice, "prequal, least-in-flight or random")->capture_default_str();
  command.add_option("--min-completeness", shape.good_enough.min_completeness, "With this share of the partitions an answer may go early")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_duration_option(command, "--patience", shape.good_enough.patience, "The time that each further percent is worth");
  command.add_option("--class", simulate.service_class, "interactive or batch")
      ->check(CLI::IsMember({"interactive", "batch"}))
      ->capture_default_str();
  command.add_option("--seed", world.seed, "Of everything that happens by chance")->capture_default_str();
  command.add_flag("--timeline", world.timeline, "Figures of each second, too");
  command.add_option("--random-worlds", simulate.random_worlds,
                     "Instead of one world: so many, each drawn from a seed (from --seed on), of --queries queries each");
  command.add_flag("--json", simulate.json, "The report as JSON");
  command.callback([&] { status = run_simulate(simulate); });
}

void add_experiment(CLI::App& app, ExperimentSettings& experiment, int& status) {
  auto& command = *app.add_subcommand("experiment", "Ask a question with a known answer; the verdict is the exit status");
  command.add_option("name", experiment.name, "Which one")->check(CLI::IsMember(experiment_names()));
  command.add_flag("--list", experiment.list, "Tell which there are");
  auto* live = command.add_flag("--live", experiment.live, "With real processes on this machine");
  command.add_flag("--simulated", experiment.simulated, "In virtual time: the default")->excludes(live);
  command.add_option("--seed", experiment.seed, "Of everything that happens by chance")->capture_default_str();
  command.add_option("--queries", experiment.queries, "Queries of each simulated run (default: as many as the experiment is for)")
      ->check(CLI::PositiveNumber);
  command.add_option("--time-scale", experiment.time_scale, "Live: load lasts so many times as long as the experiment is for")
      ->check(CLI::Range(0.01, 100.0))
      ->capture_default_str();
  command.add_option("--bin-dir", experiment.bin_dir, "Where the programs are (default: beside this one)");
  command.add_option("--corpus", experiment.corpus, "good-enough: a test collection's documents, as hedgerow-index takes them: jsonl:PATH");
  command.add_option("--test-queries", experiment.test_queries, "good-enough: its queries");
  command.add_option("--qrels", experiment.qrels, "good-enough: its judgements");
  command.add_flag("--json", experiment.json, "The figures as JSON");
  command.add_option("--html", experiment.html, "Write a page of it here");
  command.add_option("--pictures", experiment.pictures, "Write its charts as SVG into this directory");
  command.add_option("--markdown", experiment.markdown, "Write its tables and verdict here, for a document beside that directory");
  command.callback([&] { status = run_experiment(experiment); });
}

void add_replay(CLI::App& app, ReplaySettings& replay, int& status) {
  auto& command = *app.add_subcommand("replay", "Play a root's recording (hedgerow-root --record) through the policies again");
  command.add_option("file", replay.file, "The recording")->required();
  command.add_flag("--json", replay.json, "The outcome as JSON");
  command.callback([&] { status = run_replay(replay); });
}

// Descriptors 0 to 2 must be open, or a file of ours would get such a number, and a child's output would go into it.
void open_standard_descriptors() {
  int descriptor;
  do {
    descriptor = ::open("/dev/null", O_RDWR);
  } while (descriptor >= 0 && descriptor <= 2);
  if (descriptor > 2) ::close(descriptor);
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  start_logging("hedgerow-lab", "warning");
  CLI::App app("Hedgerow's laboratory: a cluster on one machine, load to put on it, the quality of its answers, and a simulator.", "hedgerow-lab");
  app.require_subcommand(1);
  int status = 0;
  UpSettings up;
  ControlSettings control;
  FaultsSettings faults;
  LoadCommand load;
  EvaluateArguments evaluate_arguments;
  SimulateSettings simulate;
  ExperimentSettings experiment;
  experiment.command_line = "hedgerow-lab";
  for (int i = 1; i < argc; ++i) experiment.command_line += std::string(" ") + argv[i];
  AdviseSettings advise_settings;
  advise_settings.command = experiment.command_line;
  ReplaySettings replay;
  sweep::SweepSettings sweep_settings;
  add_up(app, up, status);
  add_control(app, control, status);
  add_faults(app, faults, status);
  add_load(app, load, status);
  add_evaluate(app, evaluate_arguments, status);
  add_simulate(app, simulate, status);
  add_experiment(app, experiment, status);
  add_replay(app, replay, status);
  add_advise(app, advise_settings, status);
  sweep::add_sweep(app, sweep_settings, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return status;
}
