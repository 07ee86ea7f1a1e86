#include "lab/sweep/sweep_options.hpp"

namespace hedgerow::lab::sweep {

namespace {

// What is varied.
void add_axes(CLI::App& command, PlanFlags& flags) {
  command.add_option("--deadline", flags.deadlines, "Deadlines: 20ms,50ms,250ms")->expected(1)->take_all();
  command.add_option("--fanout", flags.fanouts, "How many partitions are asked: 4,8,all (default: all)")->expected(1)->take_all();
  command.add_option("--policy", flags.policies, "A policy and its parameters: hedged:hedge=auto,hedge_budget_fill=0.02 (may be repeated)")
      ->expected(1)
      ->take_all();
  command.add_option("--fault", flags.faults, "A fault: late:leaf=0,kind=late,delay=200ms; none: a healthy cluster (may be repeated)")
      ->expected(1)
      ->take_all();
  command.add_option("--repetitions", flags.repetitions, "How often each combination is run (default: 5)")->check(CLI::Range(1, 1000));
  command.add_option("--seed", flags.seed, "Of the order of runs and of arrivals (default: 1)");
  command.add_option("--name", flags.name, "What the report is called");
}

void add_measuring(CLI::App& command, PlanFlags& flags) {
  command.add_option("--rate", flags.rate, "Queries per second")->check(CLI::PositiveNumber);
  command.add_option("--duration", flags.duration, "Of each run (default: 10s)");
  command.add_option("--warm-up", flags.warm_up, "Before each run, at the same rate, not measured (default: 3s)");
  command.add_option("--arrivals", flags.arrivals, "poisson or even (default: poisson)")->check(CLI::IsMember({"poisson", "even"}));
  command.add_option("--queries", flags.queries, "Live: a file with one query a line; with --qrels, of test queries with their ids");
  command.add_flag("--reference", flags.reference, "Live: recall@k against the complete answers, which the index is asked for once");
  command.add_option("--qrels", flags.qrels, "Live: nDCG@10 against judgements: TREC's qrels, or BEIR's table");
  command.add_option("-k", flags.k, "Live: how many hits are asked for, and count for recall (default: 10)")->check(CLI::Range(1u, 1000u));
}

void add_worlds(CLI::App& command, SweepSettings& settings) {
  PlanFlags& flags = settings.flags;
  auto* index = command.add_option("--index", flags.index, "Live: the index directory");
  auto* simulated = command.add_flag("--simulated", flags.simulated, "In virtual time, in place of a live cluster");
  simulated->excludes(index);
  command.add_option("--leaves", flags.leaves, "Leaves (default: 8; simulated: 20)")->check(CLI::PositiveNumber);
  command.add_option("--replicas", flags.replicas, "Copies of each partition (default: 2; simulated: 3)")->check(CLI::PositiveNumber);
  command.add_option("--workers", flags.workers, "Worker threads of each leaf (default: the leaf's own; simulated: 2)")->check(CLI::NonNegativeNumber);
  command.add_option("--anew", flags.anew, "Live: what is started anew before each run, root, or all (default: root)")
      ->check(CLI::IsMember({"root", "all"}));
  command.add_option("--partitions", flags.partitions, "Simulated: partitions (default: 20)")->check(CLI::PositiveNumber);
  command.add_option("--service", flags.service, "Simulated: how long an attempt takes, a distribution");
  command.add_option("--bin-dir", settings.bin_dir, "Where hedgerow-leaf and hedgerow-root are (default: beside this program)");
}

}  // namespace

void add_sweep(CLI::App& app, SweepSettings& settings, int& status) {
  auto& command = *app.add_subcommand("sweep", "Run every combination of deadlines, fan-out widths, policies and faults, and report; or compare two such runs");
  auto* plan = command.add_option("--plan", settings.plan, "A JSON file; what flags say replaces what it has");
  auto* out = command.add_option("--out", settings.out, "The directory for results.json, results.csv and report.html (or comparison.html)");
  command.add_option("--pictures", settings.pictures, "A directory for the charts as SVG")->needs(out);
  auto* resume = command.add_flag("--resume", settings.resume, "Go on with the sweep in --out where it was broken off");
  resume->needs(out);
  add_axes(command, settings.flags);
  add_measuring(command, settings.flags);
  add_worlds(command, settings);
  command.add_option("--compare", settings.compare, "Lay two runs over each other: their directories, or their JSON or CSV files")
      ->expected(2)
      ->excludes(plan)
      ->excludes(resume);
  command.add_flag("--json", settings.json, "The results, or the comparison, as JSON on standard output");
  command.callback([&] { status = run_sweep(settings); });
}

}  // namespace hedgerow::lab::sweep
