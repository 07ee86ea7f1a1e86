// Many clients for long: no error, steady memory, nothing left open. scripts/check-steady is the long version.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "cluster_fixture.hpp"
#include "control_timer.hpp"
#include "program.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

TEST_CASE("64 clients get complete answers, memory is flat over the last half, and no descriptor is left") {
  const std::size_t queries = count_from_environment("HEDGEROW_STEADY_QUERIES", under_sanitizer ? 500 : 1500);
  TestCluster cluster({.index = measured_index().directory, .replicas = 2});
  std::map<std::string, int> pids{{"root", cluster.pid("root")}};
  for (const auto& leaf : cluster.leaves()) pids[leaf] = cluster.pid(leaf);
  // Leaves open a partition when it is first asked of them.
  for (std::size_t i = 0; i < 200; ++i) cluster.search(measured_query(i), {{"deadline", "30s"}});

  std::map<std::string, std::size_t> descriptors_before;
  for (const auto& [name, pid] : pids) {
    cluster.metric(name, "");  // so that the connection of this question is counted too
    descriptors_before[name] = open_descriptors(pid);
  }

  std::size_t answered = 0, wrong = 0;
  std::string first_wrong;
  std::map<std::string, std::vector<double>> mebibytes;  // at every twentieth of the way
  std::vector<double> took;
  const Instant begin = clock_now();
  ask_all(
      cluster.root_address(), 64, queries,
      [](std::size_t i) { return search_target(measured_query(i), {{"deadline", "30s"}}); },
      [&](std::size_t, const Reply& reply) {
        const auto body = reply.json();
        if (reply.status != 200 || body["finished"] != "complete" || body["completeness"]["fraction"] != 1.0 ||
            !hits_are_whole(body)) {
          if (wrong++ == 0) first_wrong = std::to_string(reply.status) + " " + reply.error + " " + reply.body;
        } else {
          took.push_back(body["took_ms"]);
        }
        if (++answered % (queries / 20) == 0) {
          for (const auto& [name, pid] : pids) {
            mebibytes[name].push_back(static_cast<double>(resident_bytes(pid)) / (1 << 20));
          }
        }
      });
  const double seconds = to_seconds(clock_now() - begin);
  CHECK_MESSAGE(wrong == 0, first_wrong);
  CHECK(answered == queries);
  REQUIRE(!took.empty());
  std::sort(took.begin(), took.end());
  MESSAGE(queries, " queries by 64 clients in ", seconds, " s, ", static_cast<double>(queries) / seconds,
          " a second; took_ms p50 ", quantile(took, 0.5), ", p99 ", quantile(took, 0.99), ", max ", took.back());

  for (const auto& [name, samples] : mebibytes) {
    const double half = samples[samples.size() / 2 - 1], end = samples.back();
    MESSAGE(name, ": ", samples.front(), " MiB after a twentieth, ", half, " at half, ", end, " at the end");
    // A sanitizer keeps what was freed on purpose.
    if (!under_sanitizer) CHECK(end <= half * 1.02 + 1);
  }
  for (const auto& [name, before] : descriptors_before) {
    CHECK_MESSAGE(eventually(10s, [&, n = name] { return open_descriptors(pids[n]) == before; }), name, ": ", before,
                  " before, now ", open_descriptors(pids[name]));
  }
}
