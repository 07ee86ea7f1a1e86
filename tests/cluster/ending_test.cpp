// What ends in an orderly way: a client that goes away, a root and a leaf that are asked to stop, the whole cluster.
#include <doctest/doctest.h>

#include "cluster_fixture.hpp"
#include "program.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

json hold(Duration delay) { return {{{"kind", "hold"}, {"delay", format_duration(delay)}}}; }

}  // namespace

TEST_CASE("when its client goes away, a query's work on the leaves stops, queued and running") {
  TestCluster cluster({.workers = 1, .allow_faults = true});
  cluster.search(synthetic_query(1), {{"deadline", "20s"}});
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, hold(60s));
  const double executed_before = cluster.metric("leaf-0", executed_searches);
  {
    RawClient client(cluster.root_address());
    client.send("GET " + search_target(synthetic_query(1), {{"deadline", "60s"}}) + " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    // One attempt is held, the other waits for the worker.
    for (const auto& leaf : cluster.leaves()) {
      REQUIRE(eventually(5s, [&] {
        return cluster.metric(leaf, "hedgerow_leaf_running_attempts") == 1 && cluster.metric(leaf, "hedgerow_leaf_queued_attempts") == 1;
      }));
    }
    CHECK(cluster.cluster()["queries_in_flight"] == 1);
  }
  for (const auto& leaf : cluster.leaves()) {
    CAPTURE(leaf);
    CHECK(eventually(5s, [&] {
      return cluster.metric(leaf, searches_ended("cancelled_queued")) + cluster.metric(leaf, searches_ended("cancelled_running")) == 2;
    }));
    CHECK(eventually(5s, [&] { return cluster.metric(leaf, "hedgerow_leaf_running_attempts") == 0; }));
  }
  CHECK(cluster.metric("leaf-0", executed_searches) == executed_before);
  CHECK(cluster.metric("root", "hedgerow_root_queries_total{outcome=\"client_gone\"}") == 1);
  CHECK(eventually(5s, [&] { return cluster.cluster()["queries_in_flight"] == 0; }));
  for (const auto& leaf : cluster.leaves()) cluster.clear_faults(leaf);
  CHECK(cluster.search(synthetic_query(1), {{"deadline", "20s"}}).json()["finished"] == "complete");
}

TEST_CASE("a root asked to stop answers what is in progress, takes nothing new, and ends with status 0") {
  TestCluster cluster({.workers = 1, .allow_faults = true});
  cluster.search(synthetic_query(1), {{"deadline", "20s"}});
  cluster.set_faults("leaf-0", hold(400ms));  // for each of two partitions, and perhaps the fetch
  auto answer = ask_in_background(cluster.root_address(), search_target(synthetic_query(1), {{"deadline", "20s"}}));
  REQUIRE(eventually(5s, [&] { return cluster.cluster()["queries_in_flight"] == 1; }));
  auto ended = cluster.act_in_background("root", "terminate");
  CHECK(eventually(5s, [&] { return !RawClient(cluster.root_address()).connected(); }));
  CHECK(answer.wait_for(0s) == std::future_status::timeout);

  const auto reply = answer.get();
  CHECK(reply.status == 200);
  CHECK(reply.json()["finished"] == "complete");
  CHECK(hits_are_whole(reply.json()));
  const auto process = ended.get().json();
  CHECK_MESSAGE(process["state"] == "ended", process.dump());
  CHECK_MESSAGE(process["end"]["status"] == 0, process.dump());
}

TEST_CASE("a leaf asked to stop answers what is in progress, and with another replica the query is complete") {
  TestCluster cluster({.replicas = 2, .workers = 1, .allow_faults = true});
  for (std::uint64_t i = 0; i < 5; ++i) cluster.search(synthetic_query(i), {{"deadline", "20s"}});
  cluster.set_faults("leaf-0", hold(400ms));
  const double answered_before = cluster.metric("leaf-0", searches_ended("answered"));
  auto answer = ask_in_background(cluster.root_address(), search_target(synthetic_query(1), {{"deadline", "20s"}}));
  REQUIRE(eventually(5s, [&] { return cluster.metric("leaf-0", "hedgerow_leaf_running_attempts") == 1; }));
  CHECK(cluster.metric("leaf-0", searches_ended("answered")) == answered_before);
  auto ended = cluster.act_in_background("leaf-0", "terminate");
  const auto reply = answer.get();
  CHECK(reply.status == 200);
  CHECK_MESSAGE(reply.json()["finished"] == "complete", reply.body);
  CHECK(hits_are_whole(reply.json()));
  // The leaf was not left: what it had in hand it answered.
  CHECK(reply.json()["attempts"]["retry"] == 0);
  const auto process = ended.get().json();
  CHECK_MESSAGE(process["state"] == "ended", process.dump());
  CHECK_MESSAGE(process["end"]["status"] == 0, process.dump());
  CHECK(cluster.search(synthetic_query(1), {{"deadline", "20s"}}).json()["finished"] == "complete");
}

TEST_CASE("no process of a cluster outlives its laboratory, even where some are stopped") {
  std::vector<int> pids;
  {
    TestCluster cluster;
    for (const auto& name : {"root", "leaf-0", "leaf-1", "leaf-2", "leaf-3"}) pids.push_back(cluster.pid(name));
    cluster.act("leaf-2", "stop");
    for (const int pid : pids) CHECK(runs(pid));
  }
  for (const int pid : pids) CHECK(!runs(pid));
}
