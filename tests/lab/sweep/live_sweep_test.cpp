// `hedgerow-lab sweep` on a cluster of real processes.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "lab/sweep/results.hpp"
#include "tests/cluster/program.hpp"
#include "tests/cluster/test_index.hpp"
#include "tests/corpus/files.hpp"

using namespace hedgerow::test;
using namespace hedgerow::lab::sweep;
using namespace std::chrono_literals;

TEST_CASE("a live sweep starts its cluster, sets each point's faults, measures, and leaves no process") {
  const TemporaryFolder folder;
  std::string queries;
  for (std::uint64_t i = 0; i < 50; ++i) queries += synthetic_query(i) + "\n";
  const auto run = run_program(built_program("hedgerow-lab"),
                               {"sweep", "--index", synthetic_index().directory.string(), "--leaves", "2", "--replicas", "1", "--workers", "1",
                                "--queries", folder.write("queries", queries), "--reference", "--deadline", "150ms,2s", "--fanout", "4,all",
                                "--policy", "plain:hedge=off,canary=off,spelling=off,snippets=off", "--fault", "none", "--fault", "late:leaf=0,kind=late,delay=400ms",
                                "--rate", "20", "--duration", "3s", "--warm-up", "500ms", "--repetitions", "1", "--out", folder.path("out"), "--json"});
  REQUIRE(run.status == 0);
  const auto results = read_results(folder.path("out"));
  REQUIRE(results.has_value());
  CHECK(to_json(*results) == nlohmann::ordered_json::parse(run.output));
  REQUIRE(results->complete());
  CHECK(results->world == "live");
  REQUIRE(results->runs.size() == 8);
  for (const Run& each : results->runs) {
    const SweepPoint& point = results->points[each.point];
    const Figures& figures = each.figures;
    CAPTURE(to_text(point));
    CHECK(figures.queries > 20);
    REQUIRE(figures.completeness);
    REQUIRE(figures.recall);
    // Half of the partitions of 8, and half of those, or all of them late or not.
    const double asked = point.fanout ? 0.5 : 1;
    const bool cut = point.faults == "late" && point.deadline == 150ms;
    CHECK(*figures.completeness <= asked + 0.1);
    if (cut) CHECK(*figures.completeness < asked - 0.15);
    if (!cut) CHECK(*figures.completeness > asked - 0.1);
    if (!cut && !point.fanout) CHECK(*figures.recall > 0.98);
    if (cut && !point.fanout) CHECK(*figures.recall < 0.85);
    if (point.faults == "late" && !point.fanout && !cut) CHECK(figures.p50_ms.value() >= 400);
    if (cut) CHECK(figures.p50_ms.value() < 300);
  }
}

TEST_CASE("a live sweep that cannot be is refused with the reason, and starts nothing") {
  const TemporaryFolder folder;
  const std::string queries = folder.write("queries", "word\n");
  const auto refused = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"sweep", "--queries", queries, "--rate", "10", "--out", folder.path("out")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(built_program("hedgerow-lab"), arguments).status == 2 && !std::filesystem::exists(folder.path("out/results.json"));
  };
  const std::string index = synthetic_index().directory.string();
  CHECK(refused({"--index", folder.path("nowhere")}));
  CHECK(refused({"--index", index, "--fanout", "9"}));
  CHECK(refused({"--index", index, "--leaves", "2", "--replicas", "3"}));
  CHECK(refused({"--index", index, "--fault", "odd:kind=odd"}));
  CHECK(refused({"--index", index, "--fault", "far:kind=late,delay=1ms,leaf=99"}));
  CHECK(refused({"--index", index, "--qrels", folder.path("nowhere")}));
  CHECK(refused({"--index", index, "--simulated"}));
}
