// Background work on all leaves, aligned and staggered: what a query that asks all of them meets.
#include <doctest/doctest.h>

#include <set>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

// Of the queries asked, how many waited for background work on none, on some, and on all of the four leaves.
struct Met {
  int none = 0, some = 0, all = 0;
};

// One query after another, for so long.
Met ask_through(TestCluster& cluster, const std::string& phase, Duration time) {
  const json work{{"kind", "background"}, {"period", "200ms"}, {"length", "48ms"}, {"phase", phase}};
  const auto set = cluster.control("PUT", "/v1/faults", json::array({work}).dump());
  REQUIRE_MESSAGE(set.status == 200, set.body);
  Met met;
  for (const Instant end = now() + time; now() < end;) {
    const auto answer = cluster.search("common", {{"deadline", "20s"}, {"hedge", "off"}, {"trace", "on"}, {"snippets", "off"}, {"spelling", "off"}}).json();
    REQUIRE(answer["finished"] == "complete");
    std::set<std::string> leaves;
    for (const auto& entry : answer["trace"]) {
      const bool waited = entry["kind"] == "primary" && entry.value("queue_ms", 0.0) >= 5;
      if (waited && entry.value("fault", "") == "background") leaves.insert(entry["leaf"]);
    }
    ++(leaves.empty() ? met.none : leaves.size() < 4 ? met.some : met.all);
  }
  return met;
}

}  // namespace

TEST_CASE("aligned background work meets a query on all leaves or on none, staggered work on one after the other") {
  TestCluster cluster({.index = animal_index().directory, .workers = 1, .allow_faults = true});
  cluster.search("common", {{"deadline", "20s"}});
  // What waits for the work is answered when it ends, what does not in a millisecond or two: so each of the 20 periods has
  // one query that waits, or a few. It waits on a part of the leaves only if it came in the moment in which the work began.
  const Met aligned = ask_through(cluster, "aligned", 4s);
  CAPTURE(aligned.none);
  CAPTURE(aligned.some);
  CAPTURE(aligned.all);
  CHECK(aligned.all >= 8);
  CHECK(aligned.all > aligned.some);
  CHECK(aligned.none > aligned.all);

  // Four times 48 ms of 200: hardly a moment without, and never all at once. Of the 80 times of work nearly each makes a
  // query wait.
  const Met staggered = ask_through(cluster, "staggered", 4s);
  CAPTURE(staggered.none);
  CAPTURE(staggered.some);
  CHECK(staggered.all == 0);
  CHECK(staggered.some >= 40);
}
