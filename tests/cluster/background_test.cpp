// Background work on all leaves, aligned and staggered: what a query that asks all of them meets.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <thread>

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
  int titles = 0;  // of those that waited on none, for their titles
};

// A query every 13 ms (of which a period is no multiple), or when the one before is answered. Back to back, one would nearly
// always be under way when the work begins, and meet it on those leaves that had not answered yet.
Met ask_through(TestCluster& cluster, const std::string& phase, Duration time) {
  const json work{{"kind", "background"}, {"period", "200ms"}, {"length", "48ms"}, {"phase", phase}};
  const auto set = cluster.control("PUT", "/v1/faults", json::array({work}).dump());
  REQUIRE_MESSAGE(set.status == 200, set.body);
  Met met;
  Instant next = clock_now();
  for (const Instant end = next + time; next < end; next = std::max(next + 13ms, clock_now())) {
    std::this_thread::sleep_until(next);
    const auto answer = cluster.search("common", {{"deadline", "20s"}, {"hedge", "off"}, {"trace", "on"}, {"snippets", "off"}, {"spelling", "off"}}).json();
    REQUIRE(answer["finished"] == "complete");
    std::set<std::string> leaves;
    bool titles_waited = false;
    for (const auto& entry : answer["trace"]) {
      const bool waited = entry["kind"] == "primary" && entry.value("queue_ms", 0.0) >= 5;
      if (entry.value("fault", "") != "background") continue;
      if (waited) leaves.insert(entry["leaf"]);
      titles_waited |= entry["kind"] == "fetch";
    }
    met.titles += leaves.empty() && titles_waited ? 1 : 0;
    ++(leaves.empty() ? met.none : leaves.size() < 4 ? met.some : met.all);
  }
  return met;
}

}  // namespace

TEST_CASE("aligned background work meets a query on all leaves or on none, staggered work on one after the other") {
  TestCluster cluster({.index = animal_index().directory, .workers = 1, .allow_faults = true});
  cluster.search("common", {{"deadline", "20s"}});
  // What waits for the work is answered when it ends, what does not in a millisecond or two: so each of the 20 periods has
  // one query that waits. It waits on a part of the leaves only if it was under way when the work began.
  const Met aligned = ask_through(cluster, "aligned", 4s);
  CAPTURE(aligned.none);
  CAPTURE(aligned.some);
  CAPTURE(aligned.all);
  CHECK(aligned.all >= 8);
  CHECK(aligned.all > aligned.some);
  CHECK(aligned.none > aligned.all);

  // Four times 48 ms of 200: hardly a moment without, and never all at once. Of the 80 times of work nearly each makes a
  // query wait: for hits, or, when it fell into one of the gaps of 2 ms, for their titles. One that waits for both has two.
  const Met staggered = ask_through(cluster, "staggered", 4s);
  CAPTURE(staggered.none);
  CAPTURE(staggered.some);
  CHECK(staggered.all == 0);
  CAPTURE(staggered.titles);
  CHECK(staggered.some + staggered.titles >= 32);
}
