// Two replicas: what happens to one leaf costs nobody an answer.
#include <doctest/doctest.h>

#include "cluster_fixture.hpp"
#include "traffic.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

void expect_complete(TestCluster& cluster, std::size_t queries) {
  for (std::size_t i = 0; i < queries; ++i) {
    const auto answer = cluster.search(synthetic_query(i), {{"deadline", "20s"}}).json();
    CHECK(answer["finished"] == "complete");
    CHECK(answer["completeness"]["fraction"] == 1.0);
    CHECK(hits_are_whole(answer));
  }
}

}  // namespace

TEST_CASE("with two replicas, a leaf that is killed costs no answer, and is used again within two seconds of its return") {
  TestCluster cluster({.replicas = 2});
  Traffic traffic(cluster.root_address(), 4);
  REQUIRE(eventually(10s, [&] { return traffic.asked() >= 50; }));
  const auto links_before = cluster.leaf("leaf-1")["links"].get<int>();

  cluster.act("leaf-1", "kill");
  REQUIRE(cluster.stops_serving("leaf-1", 5s));
  const std::size_t asked = traffic.asked();
  REQUIRE(eventually(10s, [&] { return traffic.asked() >= asked + 50; }));
  MESSAGE("retries when the leaf was killed: ", cluster.metric("root", "hedgerow_root_attempts_total{kind=\"retry\"}"));

  cluster.act("leaf-1", "start");
  const Instant back = clock_now();
  CHECK(eventually(2s, [&] { return cluster.leaf("leaf-1")["links"].get<int>() == links_before + 1; }));
  CHECK(eventually(2s, [&] { return cluster.metric("leaf-1", executed_searches) > 0; }));
  MESSAGE("asked again ", to_milliseconds(clock_now() - back), " ms after its return");
  traffic.stop();
  MESSAGE(traffic.asked(), " queries");
  CHECK_MESSAGE(traffic.incomplete() == 0, traffic.last_incomplete());
}

TEST_CASE("with two replicas, a stopped leaf costs nothing once its link is down, and is used again within two seconds") {
  TestCluster cluster({.replicas = 2, .root_arguments = {"--link-idle-time=500ms"}});
  expect_complete(cluster, 5);
  cluster.act("leaf-3", "stop");
  REQUIRE(cluster.stops_serving("leaf-3", 5s));
  expect_complete(cluster, 20);

  const auto links_before = cluster.leaf("leaf-3")["links"].get<int>();
  const double executed_before = [&] {
    cluster.act("leaf-3", "continue");
    return cluster.metric("leaf-3", executed_searches);
  }();
  const Instant back = clock_now();
  CHECK(eventually(2s, [&] { return cluster.leaf("leaf-3")["links"].get<int>() > links_before; }));
  CHECK(eventually(2s, [&] {
    cluster.search(synthetic_query(1), {{"deadline", "20s"}});
    return cluster.metric("leaf-3", executed_searches) > executed_before;
  }));
  MESSAGE("asked again ", to_milliseconds(clock_now() - back), " ms after it went on");
  expect_complete(cluster, 5);
}

TEST_CASE("with two replicas, a leaf that is stopped is left alone even before its link is down") {
  TestCluster cluster({.replicas = 2, .root_arguments = {"--link-idle-time=1h"}, .leaf_arguments = {"--idle-time=1h"}});
  expect_complete(cluster, 5);
  cluster.act("leaf-0", "stop");
  // Many at once: what the stopped leaf does not answer piles up there, and its neighbours are asked instead.
  std::size_t complete = 0;
  ask_all(
      cluster.root_address(), 16, 160, [](std::size_t i) { return search_target(synthetic_query(i), {{"deadline", "1s"}}); },
      [&](std::size_t, const Reply& reply) {
        CHECK_MESSAGE(reply.status == 200, reply.body);
        if (reply.json()["finished"] == "complete") ++complete;
      });
  MESSAGE(complete, " of 160 complete");
  CHECK(complete >= 80);
}
