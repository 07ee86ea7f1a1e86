#include "lab/load_options.hpp"

#include "base/command_line.hpp"

namespace hedgerow::lab {

namespace {

// When queries are sent, and how many.
void add_schedule(CLI::App& command, LoadSettings& settings) {
  auto* rate = command.add_option("--rate", settings.rate, "Open loop: queries per second")->check(CLI::PositiveNumber);
  auto* duration = add_duration_option(command, "--duration", settings.duration, "Open loop: for so long");
  auto* clients = command.add_option("--clients", settings.clients, "Closed loop: so many clients")->check(CLI::Range(1, 100'000));
  auto* count = command.add_option("--count", settings.count, "Closed loop: so many queries in all")->check(CLI::PositiveNumber);
  rate->needs(duration)->excludes(clients)->excludes(count);
  duration->needs(rate);
  clients->needs(count);
  count->needs(clients);
  add_duration_option(command, "--warm-up", settings.warm_up, "Open loop: so long before, at the same rate, not measured")->needs(rate);
  command
      .add_option_function<std::string>(
          "--arrivals", [&](const std::string& word) { settings.arrivals = *parse_arrival_shape(word); }, "Open loop: poisson or even")
      ->check(CLI::IsMember({"poisson", "even"}))
      ->default_str("poisson");
  command.add_option("--connections", settings.connections, "Open loop: the most connections")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command
      .add_option_function<std::string>(
          "--order", [&](const std::string& word) { settings.order = word == "drawn" ? QueryOrder::drawn : QueryOrder::cycled; },
          "Queries of the file: cycled, or drawn at random with the seed")
      ->check(CLI::IsMember({"cycled", "drawn"}))
      ->default_str("cycled");
  command.add_option("--seed", settings.seed, "Of arrivals and drawn queries")->capture_default_str();
  add_duration_option(command, "--time-limit", settings.time_limit, "How long an answer may take before it counts as failed");
}

void add_questions(CLI::App& command, LoadPlan& plan) {
  command.add_option("--queries", plan.queries, "A file with one query a line; with --qrels, of test queries with their ids")->required();
  command.add_option("--deadline", plan.deadline, "The deadline of each query (--param deadline=…)");
  command.add_option("--param", plan.parameters, "A parameter of each query, name=value (may be repeated)")
      ->expected(1)
      ->take_all()
      ->check(name_and_value);
  command.add_option("-k", plan.depth, "How many hits are asked for, and count for recall")->check(CLI::Range(1u, 1000u));
  command.add_option("--reference", plan.reference, "recall@k against complete answers: of an index directory, or of a root (http://…)");
  auto* qrels = command.add_option("--qrels", plan.qrels, "nDCG@10 against judgements: TREC's qrels, or BEIR's table");
  command.add_flag("--as-typed", plan.as_typed, "With --qrels: ask queries as they stand (default: only their words)")->needs(qrels);
}

void add_files(CLI::App& command, LoadFileSettings& files) {
  command.add_option("--hgrm", files.hgrm, "Write the percentiles here, as HdrHistogram prints them");
  command.add_option("--hlog", files.hlog, "Write an interval log here, HdrHistogram's form");
  command.add_option("--attempts", files.attempts, "Ask with traces, and write an interval log of single attempts here");
  command.add_option("--samples", files.samples, "Write a row for each query here (CSV)");
  add_duration_option(command, "--interval", files.interval, "Of the interval logs", std::chrono::milliseconds(1));
}

}  // namespace

std::string name_and_value(const std::string& text) {
  const auto equals = text.find('=');
  return equals == std::string::npos || equals == 0 ? "write name=value" : "";
}

void add_load(CLI::App& app, LoadCommand& load, int& status) {
  auto& command = *app.add_subcommand("load", "Put queries on a root, and report latencies, completeness and quality");
  command.add_option("--target", load.plan.load.target, "The root: http://127.0.0.1:7080")->required();
  add_questions(command, load.plan);
  add_schedule(command, load.plan.load);
  add_files(command, load.files);
  command.add_flag("--json", load.json, "The report as JSON");
  command.callback([&load, &status] {
    const auto& settings = load.plan.load;
    if (settings.rate == 0 && settings.clients == 0) {
      throw CLI::ValidationError("load", "give --rate and --duration, or --clients and --count");
    }
    status = run_load(load);
  });
}

}  // namespace hedgerow::lab
