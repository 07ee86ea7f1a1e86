#include "lab/advise/advise_options.hpp"

#include <string>
#include <vector>

namespace hedgerow::lab {

namespace {

Duration duration_of(const char* option, const std::string& text) {
  const auto parsed = parse_duration(text);
  if (parsed.has_error()) throw CLI::ValidationError(option, parsed.error().context);
  return *parsed;
}

}  // namespace

void add_advise(CLI::App& app, AdviseSettings& settings, int& status) {
  auto& command = *app.add_subcommand("advise", "From measured latencies of any system: when to hedge, what to expect, and how surely");
  AdviceQuestion& question = settings.question;
  auto* samples = command.add_option("--samples", settings.file, "Latencies, one a line, or a table, or a histogram: see docs/advise.md");
  auto* histogram = command.add_option("--histogram", settings.file, "The same, as it may be called for HdrHistogram's files");
  samples->excludes(histogram);
  command.add_option("--of", settings.of, "What was measured: attempts (single requests), or queries (whole ones, unhedged)")
      ->check(CLI::IsMember({"attempts", "queries"}))
      ->capture_default_str();
  command.add_option("--query-samples", settings.queries, "Latencies of whole queries, unhedged, beside those of attempts: tell what a query takes beside them");
  command.add_option_function<std::string>(
             "--overhead", [&](const std::string& text) { question.overhead = duration_of("--overhead", text); },
             "What a query takes beside its attempts (default: as --query-samples tell, else nothing)")
      ->type_name("DURATION");
  command.add_option("--unit", settings.unit, "Of numbers in the file that say none")->check(CLI::IsMember({"ns", "us", "ms", "s"}));
  command.add_option("--column", settings.column, "Of a table: the column with the latencies");
  command.add_option("--tag", settings.tag, "Of an interval log: its lines with this tag");
  command.add_option("--width", question.width, "Servers that a query asks and waits for")->capture_default_str();
  command.add_option("--replicas", question.replicas, "Servers that could answer instead of each, itself included")->capture_default_str();
  command.add_option("--most-hedges", question.most_hedges, "Hedges of one attempt, at most")
      ->check(CLI::Range(0, 4))
      ->capture_default_str();
  command.add_option("--budget", question.budget, "Hedges, as a share of the attempts")->capture_default_str();
  command.add_option("--target", settings.target, "The quantile of queries that is to be small: p99.9 or 0.999")->capture_default_str();
  command.add_option("--completeness", question.completeness, "Deadlines for answers that are so complete (may be repeated; default: 1, 0.99, 0.95, 0.9)")
      ->expected(1)
      ->take_all();
  command.add_option("--shared", question.shared, "Of the slow attempts, the share that would be slow at every replica")->capture_default_str();
  auto* asked = command.add_option("--asked-again", question.asked_again, "Or: so many slow attempts were asked again at another replica, …");
  auto* slow = command.add_option("--slow-again", question.slow_again, "… and so many of them were slow there too");
  asked->needs(slow)->check(CLI::PositiveNumber);
  slow->needs(asked);
  command.add_option_function<std::string>(
             "--shortest-hedge-delay", [&](const std::string& text) { question.shortest_delay = duration_of("--shortest-hedge-delay", text); },
             "No hedge sooner (default: 1ms, or the median of what was measured, where that is less)")
      ->type_name("DURATION");
  command.add_option_function<std::vector<std::string>>(
             "--delay",
             [&](const std::vector<std::string>& texts) {
               for (const auto& text : texts) question.delays.push_back(duration_of("--delay", text));
             },
             "Judge this delay instead of finding the best (may be repeated, for further hedges)")
      ->expected(1)
      ->take_all()
      ->type_name("DURATION");
  command.add_option_function<double>("--load", [&](double load) { question.load = load; },
                                      "The share of the servers' time that was worked when it was measured: tells at which load hedging harms");
  command.add_option("--workers", question.workers, "Of each server, before one queue")->capture_default_str();
  command.add_option("--confidence", question.confidence, "With which intervals hold")->capture_default_str();
  command.add_option("--hedged-samples", settings.hedged,
                     "Latencies of whole queries that were hedged so: the exit status is 1 where the prediction is more than 15 % off");
  command.add_flag("--check", settings.check, "Hold the advice against the simulator; the exit status is 1 where they differ by more than 15 %");
  command.add_option("--seed", settings.seed, "Of the check")->capture_default_str();
  command.add_flag("--json", settings.json, "The advice as JSON");
  command.add_option("--html", settings.html, "Write a page with pictures here");
  command.add_option("--pictures", settings.pictures, "Write the pictures as SVG into this directory");
  command.callback([&, samples, histogram] {
    if (samples->count() + histogram->count() == 0) throw CLI::ValidationError("advise", "give --samples or --histogram");
    status = run_advise(std::move(settings));
  });
}

}  // namespace hedgerow::lab
