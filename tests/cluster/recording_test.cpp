// What a real root's search policies were told and decided, under faults and with hedges, ties and canaries, replays to the
// same decisions.
#include <doctest/doctest.h>

#include <unistd.h>

#include <fstream>
#include <sstream>

#include "cluster_fixture.hpp"
#include "program.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

// A file that goes with the test.
struct TemporaryFile {
  TemporaryFile() : path(std::filesystem::temp_directory_path() / ("hedgerow-recording-" + std::to_string(::getpid()))) {}
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::filesystem::path path;
};

ProgramRun replay(const std::filesystem::path& recording) {
  return run_program(built_program("hedgerow-lab"), {"replay", recording.string(), "--json"});
}

}  // namespace

TEST_CASE("a real root's recording under faults replays with the same decisions, and a changed one does not") {
  const TemporaryFile recording;
  {
    TestCluster cluster({.leaves = 4, .replicas = 3, .allow_faults = true, .canary = "auto",
                         .root_arguments = {"--record=" + recording.path.string(), "--default-hedge=3ms"}});
    const auto ask = [&](int from, int to, const lab::SearchParameters& parameters) {
      for (int i = from; i < to; ++i) cluster.search(synthetic_query(static_cast<std::uint64_t>(i % 50)), parameters);
    };
    ask(0, 30, {{"deadline", "2s"}});
    cluster.set_faults("leaf-0", {{{"kind", "late"}, {"delay", "30ms"}, {"work", {"search"}}}});
    cluster.set_faults("leaf-1", {{{"kind", "error"}, {"probability", 0.5}, {"work", {"search"}}}});
    ask(0, 30, {{"deadline", "2s"}, {"tied", "on"}});
    ask(0, 30, {{"deadline", "40ms"}, {"min_completeness", "0.5"}, {"patience", "100us"}});
    cluster.act("leaf-2", "kill");
    ask(0, 20, {{"deadline", "1s"}, {"hedge", "auto"}});
    cluster.act("leaf-2", "start");
    CHECK(cluster.becomes_serving("leaf-2", 20s));
    ask(0, 20, {{"deadline", "2s"}, {"hedge", "p95"}});
    CHECK(cluster.metric("root", "hedgerow_root_attempts_total{kind=\"hedge\"}") > 0);
  }  // its root drains, and writes what it still holds

  const ProgramRun run = replay(recording.path);
  CAPTURE(run.output);
  CHECK(run.status == 0);
  const json outcome = json::parse(run.output);
  CHECK(outcome["differing"] == 0);
  CHECK(outcome["queries"] >= 130);
  CHECK(outcome["decisions"] >= 1000);

  // One answer that came from another leaf's attempt than it did is found out.
  std::ostringstream text;
  text << std::ifstream(recording.path).rdbuf();
  std::string changed = text.str();
  CHECK(changed.find(" canary ") != std::string::npos);  // steps that are no fan-out's
  const auto place = changed.find(":primary");
  REQUIRE(place != std::string::npos);
  changed.replace(place, 8, ":retry");
  std::ofstream(recording.path, std::ios::trunc) << changed;
  const ProgramRun other = replay(recording.path);
  CHECK(other.status == 1);
  CHECK(json::parse(other.output)["differing"] == 1);
}
