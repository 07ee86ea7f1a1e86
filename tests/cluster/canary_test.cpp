// Canary requests with real processes: a query that crashes every leaf that runs it, and queries that do not.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "cluster_fixture.hpp"
#include "program.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

ClusterOptions twenty(const TestIndex& index, std::vector<std::string> root_arguments = {}) {
  // One of them per partition would be eight: copies make it twenty.
  return {.index = index.directory, .leaves = 20, .replicas = 3, .workers = 1, .allow_faults = true,
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
  TestCluster cluster(twenty(shelf_index()));
  make_deadly(cluster, "novel");
  // Everything that asks something about the query would crash a leaf: spelling, snippets, facets.
  const auto first = cluster.search("novel", {{"deadline", "20s"}, {"facets", "section"}});
  CHECK(first.status == 422);
  CHECK(first.json()["type"] == "urn:hedgerow:problem:quarantined");
  CHECK(std::stoi(first.header("Retry-After")) > 200);
  CHECK(eventually(5s, [&] { return running(cluster) == 18; }));

  std::vector<std::future<Reply>> others;
  for (int i = 0; i < 20; ++i) {
    others.push_back(ask_in_background(cluster.root_address(), search_target("novel", {{"deadline", "20s"}, {"canary", i % 2 ? "off" : "always"}})));
  }
  for (auto& reply : others) CHECK(reply.get().status == 422);
  const auto other = cluster.search("poem", {{"deadline", "20s"}, {"facets", "section"}});
  CHECK(other.status == 200);
  CHECK(other.json()["attempts"]["canary"] == 1);
  CHECK(other.json()["finished"] == "complete");
  CHECK(running(cluster) == 18);

  const auto listed = quarantine(cluster);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["query"] == "novel");
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
  CHECK(cluster.search("novel", {{"deadline", "20s"}}).status == 200);
  CHECK(cluster.ask("DELETE", "/v1/quarantine").json()["cleared"] == 0);
}

TEST_CASE("without canaries it takes down all twenty") {
  // Nor with what is learnt from lost leaves, which would hold it back sooner or later (below).
  TestCluster cluster(twenty(animal_index(), {"--quarantine-time=1ms", "--longest-quarantine-time=1ms"}));
  make_deadly(cluster, "otter");
  // Each leaf that dies is one replica less, so some queries later nobody is left.
  CHECK(eventually(20s, [&] {
    cluster.search("otter", {{"deadline", "2s"}, {"canary", "off"}});
    return running(cluster) == 0;
  }));
}

TEST_CASE("without canaries, copies that come at once take down all twenty before anything is known") {
  TestCluster cluster(twenty(animal_index()));
  make_deadly(cluster, "otter");
  std::vector<std::future<Reply>> replies;
  for (int i = 0; i < 40; ++i) {
    replies.push_back(ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "20s"}, {"canary", "off"}})));
  }
  for (auto& reply : replies) CHECK(reply.get().status != 200);
  // As many as are asked before the first of them has told of its losses twice: all, but on a machine that is held up.
  CHECK(eventually(5s, [&] { return running(cluster) <= 4; }));
  MESSAGE(running(cluster), " of 20 leaves live on");
}

TEST_CASE("without canaries, a query that lost leaves twice is refused from then on") {
  TestCluster cluster(twenty(animal_index()));
  make_deadly(cluster, "otter");
  const auto ask = [&] { return cluster.search("otter", {{"deadline", "5s"}, {"canary", "off"}}).status; };
  CHECK(ask() == 503);
  CHECK(quarantine(cluster).empty());
  CHECK(ask() == 503);
  CHECK(ask() == 422);
  REQUIRE(quarantine(cluster).size() == 1);
  CHECK(quarantine(cluster)[0]["reason"] == "lost_leaves");
}

TEST_CASE("copies of a deadly query that come at once take down two leaves together") {
  TestCluster cluster(twenty(animal_index()));
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

TEST_CASE("a stopped leaf costs first-seen queries a second canary, and nobody the answer") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 8, .replicas = 2, .workers = 1, .canary = "auto"});
  const auto ask = [&](int number) {
    return ask_in_background(cluster.root_address(), search_target("common -solo" + std::to_string(number), {{"deadline", "10s"}}));
  };
  const auto canaries_of = [](std::future<Reply> asked) {
    const auto reply = asked.get();
    CHECK(reply.status == 200);
    const auto answer = reply.json();
    CHECK(answer["finished"] == "complete");
    return answer["attempts"]["canary"].get<int>();
  };
  for (int i = 0; i < 50; ++i) canaries_of(ask(i));
  cluster.act("leaf-3", "stop");
  // All at once, before any search makes the root avoid that leaf: that none of 64 has its canary there is 1 in 5,000.
  std::vector<std::future<Reply>> asked;
  for (int i = 50; i < 114; ++i) asked.push_back(ask(i));
  int second = 0;
  for (auto& one : asked) second += canaries_of(std::move(one)) > 1 ? 1 : 0;
  CHECK(second > 0);
  cluster.act("leaf-3", "continue");
  CHECK(quarantine(cluster).empty());
  CHECK(verdicts(cluster, "guilty") == 0);
  // Every canary that was sent has its ending, also those that nobody waited for.
  const auto ended = [&] {
    double count = 0;
    for (const char* outcome : {"answered", "late", "cancelled_queued", "cancelled_running", "unreachable"}) {
      count += cluster.metric("root", std::string("hedgerow_root_attempts_ended_total{kind=\"canary\",outcome=\"") + outcome + "\"}");
    }
    return count;
  };
  CHECK(eventually(10s, [&] { return ended() == cluster.metric("root", "hedgerow_root_attempts_total{kind=\"canary\"}"); }));
}

TEST_CASE("a freeze of all leaves, or of the root, convicts nobody") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 4, .replicas = 2, .workers = 1, .allow_faults = true, .canary = "auto"});
  const auto ask = [&](int number) {
    return ask_in_background(cluster.root_address(), search_target("common -solo" + std::to_string(number), {{"deadline", "8s"}}));
  };
  // Known latencies, so that canaries that are late are soon joined by a second one.
  for (int i = 0; i < 50; ++i) ask(i).get();
  const std::vector<std::vector<std::string>> frozen{cluster.leaves(), {cluster.leaves()[0], cluster.leaves()[1]}, {"root"}};
  for (std::size_t round = 0; round < frozen.size(); ++round) {
    CAPTURE(round);
    for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "late"}, {"delay", "1s"}, {"work", {"search"}}}});
    std::vector<std::future<Reply>> replies;
    for (int i = 0; i < 6; ++i) replies.push_back(ask(100 + 10 * static_cast<int>(round) + i));
    CHECK(eventually(10s, [&] {
      double held = 0;
      for (const auto& leaf : cluster.leaves()) held += cluster.metric(leaf, "hedgerow_leaf_faults_total{kind=\"late\"}");
      return held >= 2 * static_cast<double>(round + 1);
    }));
    for (const auto& name : frozen[round]) cluster.act(name, "stop");
    std::this_thread::sleep_for(2s);  // the freeze itself
    for (const auto& name : frozen[round]) cluster.act(name, "continue");
    for (auto& reply : replies) CHECK(reply.get().status != 422);
    for (const auto& leaf : cluster.leaves()) CHECK(cluster.becomes_serving(leaf, 20s));
    for (const auto& leaf : cluster.leaves()) cluster.clear_faults(leaf);
    CHECK(quarantine(cluster).empty());
  }
  CHECK(verdicts(cluster, "guilty") == 0);
}

TEST_CASE("leaves that are killed in pairs under traffic quarantine no query that is asked meanwhile") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 6, .replicas = 3, .workers = 1, .canary = "auto"});
  std::atomic<bool> stopping = false;
  std::atomic<std::size_t> answered = 0, quarantined = 0;
  std::vector<std::thread> clients;
  for (int k = 0; k < 8; ++k) {
    clients.emplace_back([&, k] {
      Client client(cluster.root_address());
      for (int n = 0; !stopping; ++n) {
        // Half of them ask what everybody asks, so that many copies are under way together, and half what nobody has.
        const std::string query = k % 2 ? "common" : "common -solo" + std::to_string(n % 400) + " -none" + std::to_string(k);
        const auto reply = client.get(search_target(query, {{"deadline", "20s"}}));
        answered += reply.status == 200;
        quarantined += reply.status == 422;
      }
    });
  }
  CHECK(eventually(20s, [&] { return answered > 100; }));
  for (int round = 0; round < 4; ++round) {
    const std::array names{"leaf-" + std::to_string(round % 3 * 2), "leaf-" + std::to_string(round % 3 * 2 + 1)};
    auto one = cluster.act_in_background(names[0], "kill"), other = cluster.act_in_background(names[1], "kill");
    CHECK(one.get().status == 200);
    CHECK(other.get().status == 200);
    for (const auto& name : names) CHECK(cluster.stops_serving(name, 10s));
    const std::size_t before = answered;
    CHECK(eventually(20s, [&] { return answered > before + 50; }));
    for (const auto& name : names) cluster.act(name, "start");
    for (const auto& name : names) CHECK(cluster.becomes_serving(name, 20s));
  }
  stopping = true;
  for (auto& client : clients) client.join();
  CHECK(quarantined == 0);
  CHECK(quarantine(cluster).empty());
  MESSAGE(answered.load(), " answered");
}
