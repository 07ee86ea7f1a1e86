// Canary requests with real processes: a query that crashes every leaf that runs it, and queries that do not.
#include <doctest/doctest.h>

#include <algorithm>

#include "cluster_fixture.hpp"
#include "program.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

ClusterOptions twenty(std::vector<std::string> root_arguments = {}) {
  // One of them per partition would be eight: copies make it twenty.
  return {.index = animal_index().directory, .leaves = 20, .replicas = 3, .workers = 1, .allow_faults = true,
          .canary = "auto", .root_arguments = std::move(root_arguments)};
}

void make_deadly(TestCluster& cluster, const std::string& word) {
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "crash"}, {"word", word}}});
}

std::size_t running(TestCluster& cluster) {
  std::size_t count = 0;
  for (const auto& leaf : cluster.leaves()) count += cluster.process(leaf)["state"] == "running" ? 1 : 0;
  return count;
}

json quarantine(TestCluster& cluster) { return cluster.ask("GET", "/v1/quarantine").json()["queries"]; }
double verdicts(TestCluster& cluster, const std::string& verdict) {
  return cluster.metric("root", "hedgerow_root_canary_verdicts_total{verdict=\"" + verdict + "\"}");
}

}  // namespace

TEST_CASE("a query that crashes every leaf that runs it takes down two of twenty, and is refused from then on") {
  TestCluster cluster(twenty());
  make_deadly(cluster, "otter");
  // Everything that asks something about the query would crash a leaf: spelling, snippets, facets.
  const auto first = cluster.search("otter", {{"deadline", "20s"}, {"facets", "all"}});
  CHECK(first.status == 422);
  CHECK(first.json()["type"] == "urn:hedgerow:problem:quarantined");
  CHECK(std::stoi(first.header("Retry-After")) > 200);
  CHECK(eventually(5s, [&] { return running(cluster) == 18; }));

  std::vector<std::future<Reply>> others;
  for (int i = 0; i < 20; ++i) {
    others.push_back(ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "20s"}, {"canary", i % 2 ? "off" : "always"}})));
  }
  for (auto& reply : others) CHECK(reply.get().status == 422);
  const auto other = cluster.search("badger", {{"deadline", "20s"}});
  CHECK(other.status == 200);
  CHECK(other.json()["attempts"]["canary"] == 1);
  CHECK(other.json()["finished"] == "complete");
  CHECK(running(cluster) == 18);

  const auto listed = quarantine(cluster);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["query"] == "otter");
  CHECK(listed[0]["reason"] == "crash");
  CHECK(listed[0]["leaves"].size() == 2);
  CHECK(listed[0]["refused"] == 20);
  for (const auto& leaf : listed[0]["leaves"]) CHECK(cluster.process(leaf.get<std::string>())["state"] != "running");
  CHECK(verdicts(cluster, "guilty") == 1);
  CHECK(cluster.metric("root", "hedgerow_root_quarantined_queries") == 1);
  CHECK(cluster.metric("root", "hedgerow_root_queries_total{outcome=\"quarantined\"}") == 21);

  // Cleared, by its entry; leaves that have been started again have no faults.
  const std::string path = "/v1/quarantine/" + listed[0]["id"].get<std::string>();
  CHECK(cluster.ask("DELETE", "/v1/quarantine/x").status == 404);
  CHECK(cluster.ask("DELETE", path).json()["cleared"] == 1);
  CHECK(cluster.ask("DELETE", path).status == 404);
  for (const auto& leaf : cluster.leaves()) {
    if (cluster.process(leaf)["state"] == "running") cluster.clear_faults(leaf);
  }
  CHECK(cluster.search("otter", {{"deadline", "20s"}}).status == 200);
  CHECK(cluster.ask("DELETE", "/v1/quarantine").json()["cleared"] == 0);
}

TEST_CASE("without canaries it takes down all twenty") {
  TestCluster cluster(twenty());
  make_deadly(cluster, "otter");
  // Each leaf that dies is one replica less, so some queries later nobody is left.
  CHECK(eventually(20s, [&] {
    cluster.search("otter", {{"deadline", "2s"}, {"canary", "off"}});
    return running(cluster) == 0;
  }));
}

TEST_CASE("copies of a deadly query that come at once take down two leaves together") {
  TestCluster cluster(twenty());
  make_deadly(cluster, "otter");
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < 30; ++i) replies.push_back(ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "20s"}})));
  for (auto& reply : replies) CHECK(reply.get().status == 422);
  CHECK(eventually(5s, [&] { return running(cluster) == 18; }));
  CHECK(verdicts(cluster, "guilty") == 1);
}

TEST_CASE("a leaf that is killed or stopped under a canary is no fault of the query's") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 4, .replicas = 2, .workers = 1, .allow_faults = true,
                       .canary = "auto", .root_arguments = {"--link-idle-time=500ms", "--canary-hang-time=1s"}});
  // Every canary takes a while, so that what happens to its leaf happens under it.
  for (const auto& leaf : cluster.leaves()) {
    cluster.set_faults(leaf, {{{"kind", "hold"}, {"delay", format_duration(scaled(1s))}, {"word", "otter"}, {"work", {"search"}}}});
  }
  const auto searching = [&]() -> std::string {
    for (const auto& leaf : cluster.leaves()) {
      if (cluster.process(leaf)["state"] == "running" && cluster.metric(leaf, "hedgerow_leaf_faults_total{kind=\"hold\"}") > 0) return leaf;
    }
    return "";
  };
  auto reply = ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "60s"}}));
  REQUIRE(eventually(10s, [&] { return searching() != ""; }));
  cluster.act(searching(), "kill");
  const auto answer = reply.get();
  CHECK(answer.status == 200);
  CHECK(answer.json()["finished"] == "complete");
  CHECK(answer.json()["attempts"]["canary"].get<int>() == 2);
  CHECK(quarantine(cluster).empty());
  CHECK(verdicts(cluster, "safe") == 1);
}

TEST_CASE("lateness is held against no query, however long") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 4, .replicas = 2, .workers = 2, .allow_faults = true,
                       .canary = "auto", .root_arguments = {"--canary-hang-time=200ms"}});
  // Late beyond the hang time, on every leaf, and only for this query: a hang in all that can be seen, until it ends.
  for (const auto& leaf : cluster.leaves()) {
    cluster.set_faults(leaf, {{{"kind", "late"}, {"delay", "1500ms"}, {"word", "otter"}, {"work", {"search"}}}});
  }
  CHECK(cluster.search("otter", {{"deadline", "100ms"}}).status == 504);
  CHECK(eventually(10s, [&] { return cluster.metric("root", "hedgerow_root_quarantine_lifted_total") == 1; }));
  CHECK(quarantine(cluster).empty());
  // With time enough it is answered.
  const auto answer = cluster.search("otter", {{"deadline", "60s"}});
  CHECK(answer.status == 200);
  CHECK(answer.json()["finished"] == "complete");
}
