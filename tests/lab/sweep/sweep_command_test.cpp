// The command in virtual time: what it leaves behind, resumed, refused, compared.
#include "lab/sweep/sweep_command.hpp"

#include <doctest/doctest.h>

#include "lab/sweep/results.hpp"
#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::lab::sweep;
using hedgerow::test::contents;
using hedgerow::test::TemporaryFolder;

namespace {

SweepSettings small_sweep(const TemporaryFolder& folder) {
  SweepSettings settings;
  settings.flags.simulated = true;
  settings.flags.deadlines = {"6ms,200ms"};
  settings.flags.policies = {"plain:hedge=off", "hedged:hedge=p90"};
  settings.flags.faults = {"none", "late:kind=late,leaf=0,delay=50ms"};
  settings.flags.rate = 100;
  settings.flags.duration = "3s";
  settings.flags.warm_up = "1s";
  settings.flags.leaves = 4;
  settings.flags.partitions = 4;
  settings.flags.replicas = 2;
  settings.flags.repetitions = 2;
  settings.out = folder.path("out");
  return settings;
}

double mean_completeness(const SweepResults& results, const SweepPoint& point) {
  double sum = 0, count = 0;
  for (const Run& run : results.runs) {
    if (!(results.points[run.point] == point)) continue;
    sum += run.figures.completeness.value();
    ++count;
  }
  REQUIRE(count > 0);
  return sum / count;
}

}  // namespace

TEST_CASE("a sweep leaves results as JSON and CSV that agree, a report, and its charts as pictures") {
  const TemporaryFolder folder;
  auto settings = small_sweep(folder);
  settings.pictures = folder.path("pictures");
  REQUIRE(run_sweep(settings) == 0);
  CHECK(contents(folder.path("pictures/completeness-late.svg")).starts_with("<svg "));
  const auto json = read_results(folder.path("out")), csv = read_results(folder.path("out/results.csv"));
  REQUIRE(json.has_value());
  REQUIRE(csv.has_value());
  CHECK(json->complete());
  CHECK(json->runs.size() == 16);
  CHECK(to_csv(*json) == contents(folder.path("out/results.csv")));
  CHECK(csv->runs.size() == 16);
  for (const Run& run : json->runs) CHECK(run.figures.queries == 300);
  const std::string report = contents(folder.path("out/report.html"));
  CHECK(report.find("Completeness against latency") != std::string::npos);
  CHECK(report.find("Faults: late") != std::string::npos);
}

TEST_CASE("deadlines, policies and faults are those of the point that they are told for") {
  using namespace std::chrono_literals;
  const TemporaryFolder folder;
  REQUIRE(run_sweep(small_sweep(folder)) == 0);
  const auto results = *read_results(folder.path("out"));
  // Attempts take 5 ms at the median: 6 ms are not enough for most queries, 200 ms for all.
  CHECK(mean_completeness(results, {6ms, std::nullopt, "plain", "none"}) < 0.9);
  CHECK(mean_completeness(results, {200ms, std::nullopt, "plain", "none"}) > 0.999);
  CHECK(mean_completeness(results, {6ms, std::nullopt, "plain", "late"}) < mean_completeness(results, {6ms, std::nullopt, "plain", "none"}));
  for (const Run& run : results.runs) {
    const SweepPoint& point = results.points[run.point];
    if (point.policy == "plain") CHECK(run.figures.extra_attempts.value() < 0.01);
    if (point.policy == "plain" && point.faults == "none" && point.deadline == 200ms) CHECK(run.figures.max_ms.value() < 100);
  }
}

TEST_CASE("the same plan gives the same figures") {
  const TemporaryFolder one, two;
  REQUIRE(run_sweep(small_sweep(one)) == 0);
  REQUIRE(run_sweep(small_sweep(two)) == 0);
  CHECK(contents(one.path("out/results.csv")) == contents(two.path("out/results.csv")));
}

TEST_CASE("a sweep that was broken off is resumed, to the same end, and is never written over") {
  const TemporaryFolder folder;
  auto settings = small_sweep(folder);
  REQUIRE(run_sweep(settings) == 0);
  const std::string whole = contents(folder.path("out/results.csv"));
  auto results = *read_results(folder.path("out"));
  results.runs.resize(5);
  folder.write("out/results.json", to_json(results).dump());

  CHECK(run_sweep(settings) == 2);  // results are there already
  settings.resume = true;
  auto other = settings;
  other.flags.rate = 200;
  CHECK(run_sweep(other) == 2);  // and they are of another plan
  REQUIRE(run_sweep(settings) == 0);
  CHECK(contents(folder.path("out/results.csv")) == whole);
}

TEST_CASE("a plan that cannot be run is refused before anything is") {
  const TemporaryFolder folder;
  const auto refused = [&](auto&& change) {
    auto settings = small_sweep(folder);
    change(settings);
    const int status = run_sweep(settings);
    CHECK_FALSE(std::filesystem::exists(folder.path("out/results.json")));
    return status == 2;
  };
  CHECK(refused([](SweepSettings& settings) { settings.out.clear(); }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.simulated = false; }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.fanouts = {"5"}; }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.policies = {"odd:snippets=auto"}; }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.faults = {"odd:kind=odd"}; }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.service = "odd"; }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.reference = true; }));
  CHECK(refused([](SweepSettings& settings) { settings.flags.replicas = 9; }));
  CHECK(refused([&](SweepSettings& settings) { settings.plan = folder.path("missing.json"); }));
  CHECK(refused([&](SweepSettings& settings) { settings.plan = folder.write("broken.json", "{"); }));
}

TEST_CASE("two sweeps are compared from their directories or files, and the comparison is written") {
  const TemporaryFolder folder;
  auto settings = small_sweep(folder);
  settings.flags.repetitions = 4;
  REQUIRE(run_sweep(settings) == 0);
  settings.out = folder.path("slower");
  settings.flags.service = "lognormal:15ms,0.5";
  REQUIRE(run_sweep(settings) == 0);
  SweepSettings comparison;
  comparison.compare = {folder.path("out"), folder.path("slower/results.csv")};
  comparison.out = folder.path("both");
  REQUIRE(run_sweep(comparison) == 0);
  const auto json = nlohmann::json::parse(contents(folder.path("both/comparison.json")));
  CHECK(json["beyond_noise"].get<int>() > 0);
  for (const auto& difference : json["differences"]) {
    if (difference["measure"] == "p50_ms" && difference["beyond_noise"] == true) CHECK(difference["better"] == false);
  }
  CHECK(contents(folder.path("both/comparison.html")).find("Beyond noise") != std::string::npos);
  comparison.compare = {folder.path("out"), folder.path("nowhere")};
  CHECK(run_sweep(comparison) == 2);
}
