#include "tests/peers/table.hpp"

#include <doctest/doctest.h>

#include <sstream>

using namespace hedgerow;
using namespace hedgerow::peers;

namespace {

using Ids = std::vector<std::string>;

LoadRun run(const char* engine, const char* part, unsigned round, std::map<std::string, double> figures, double rate = 0) {
  return {.engine = engine, .part = part, .round = round, .rate = rate, .figures = std::move(figures), .first_error = {}};
}

std::map<std::string, double> answers(double per_second) { return {{"queries", 100}, {"answered", 100}, {"queries_per_second", per_second}}; }
std::map<std::string, double> alone(double p50, double p99) { return {{"queries", 100}, {"answered", 100}, {"p50_ms", p50}, {"p99_ms", p99}}; }

std::map<std::string, double> open_loop(double p50, double p99, double complete = 100, double errors = 0, double unsent = 0) {
  return {{"queries", 100}, {"answered", 100 - errors - unsent}, {"complete", complete}, {"errors", errors}, {"unsent", unsent},
          {"late_starts", 0}, {"p50_ms", p50}, {"p99_ms", p99}, {"p99.9_ms", 2 * p99}};
}

// The line of the table that begins so.
std::string row(const std::string& markdown, const std::string& begin) {
  std::istringstream lines(markdown);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) return line;
  }
  return "no row begins so";
}

}  // namespace

TEST_CASE("Closed loop: medians, ratios to the engine below, and how many times as many answers are Hedgerow's") {
  Results results;
  // Throughput of three rounds each; p50 alone of one.
  for (const double rate : {900.0, 1000.0, 1300.0}) results.loads.push_back(run("in-process", "throughput", 1, answers(rate)));
  for (const double rate : {800.0, 750.0, 100.0}) results.loads.push_back(run("hedgerow", "throughput", 1, answers(rate)));
  for (const double rate : {150.0, 125.0, 120.0}) results.loads.push_back(run("sphinx", "throughput", 1, answers(rate)));
  results.loads.front().figures["asker_us"] = 900;
  results.loads.push_back(run("in-process", "unloaded", 1, alone(1.5, 4)));
  results.loads.push_back(run("hedgerow", "unloaded", 1, alone(1.2, 3)));
  const std::string markdown = comparison_markdown(results, {"two cores"});
  CHECK(markdown.starts_with("- two cores\n"));
  CHECK(row(markdown, "| in-process: the 16") == "| in-process: the 16 partitions one after another | 1,000 | 1.00 | 0.75 | 1.50 | 1.00 | 4.00 | 900 |");
  CHECK(row(markdown, "| Hedgerow |") == "| Hedgerow | 750 | 0.75 | 1.00 | 1.20 | 0.80 | 3.00 | – |");
  CHECK(row(markdown, "| Sphinx, 16 agents |") == "| Sphinx, 16 agents | 125 | 0.12 | 6.00 | – | – | – | – |");
}

TEST_CASE("Faults: p99 to when all is well, the share of complete answers, and quantiles that are only known to be at least so") {
  Results results;
  results.loads = {run("hedgerow", "healthy", 1, open_loop(2, 4), 96), run("hedgerow", "slow", 1, open_loop(2.5, 6, 99), 96),
                   run("xapian-remote", "healthy", 1, open_loop(2, 5), 96), run("xapian-remote", "slow", 1, open_loop(407, 1000, 90, 0, 10), 96)};
  auto dead = run("xapian-remote", "dead", 1, open_loop(0, 0, 0, 100), 96);
  dead.first_error = "io: connection refused";
  results.loads.push_back(dead);
  const std::string markdown = comparison_markdown(results, {});
  CHECK(row(markdown, "| Hedgerow | 96.0 | well") == "| Hedgerow | 96.0 | well | 2.00 | 4.00 | 1.00 | 100 % | 0 % |");
  CHECK(row(markdown, "| Hedgerow | 96.0 | 200 ms slow") == "| Hedgerow | 96.0 | 200 ms slow | 2.50 | 6.00 | 1.50 | 99.00 % | 0 % |");
  CHECK(row(markdown, "| Xapian's remote backend, 16 shards | 96.0 | 200 ms slow") ==
        "| Xapian's remote backend, 16 shards | 96.0 | 200 ms slow | 407 | ≥ 1,000 | 200 | 90.00 % | 10.00 % |");
  CHECK(row(markdown, "| Xapian's remote backend, 16 shards | 96.0 | dead") ==
        "| Xapian's remote backend, 16 shards | 96.0 | dead | fails | – | – | – | 100 % |");
  CHECK(row(markdown, "- Xapian") == "- Xapian's remote backend, 16 shards, dead: io: connection refused");
}

TEST_CASE("Nearly all is not shown as all") {
  Results results;
  results.loads = {run("hedgerow", "steady", 1, open_loop(1, 1), 300)};
  results.loads.front().figures["queries"] = 100'000;
  results.loads.front().figures["complete"] = 99'999;
  CHECK(row(comparison_markdown(results, {}), "| Hedgerow") == "| Hedgerow | 300 | 1.00 | 1.00 | 2.00 | – | 99.99 % | 0 % | 0 % |");
}

TEST_CASE("Agreement is shown where the engine below was asked too, and no part without results has a table") {
  Results results;
  results.answers = {{"in-process", {Ids{"1", "2"}, Ids{"3"}}}, {"sphinx", {Ids{"1", "9"}, Ids{"3"}}}};
  const std::string markdown = comparison_markdown(results, {});
  CHECK(row(markdown, "| Sphinx") == "| Sphinx, 16 agents | 2 | 100 % | 66.67 % | 50.00 % |");
  CHECK(markdown.find("loop") == std::string::npos);
  results.answers.erase(results.answers.begin());
  CHECK(comparison_markdown(results, {}).empty());
}
