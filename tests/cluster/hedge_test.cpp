// Hedged requests between real processes: a leaf that is silent is answered around, and nothing hangs on a hedge.
#include <doctest/doctest.h>

#include <algorithm>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

// Replicas are drawn at random, so that the slow leaf goes on being asked first; the budget does not run out.
ClusterOptions two_replicas(std::vector<std::string> root_arguments) {
  root_arguments.push_back("--replica-choice=random");
  return {.index = animal_index().directory, .replicas = 2, .allow_faults = true, .root_arguments = std::move(root_arguments)};
}
const std::vector<std::string> much_budget{"--hedge-budget-fill=1", "--hedge-budget-depth=10000"};

std::string ended(const std::string& kind, const std::string& outcome) {
  return "hedgerow_root_attempts_ended_total{kind=\"" + kind + "\",outcome=\"" + outcome + "\"}";
}
double ended_in_all(TestCluster& cluster, const std::string& kind) {
  double sum = 0;
  for (const char* outcome : {"answered", "late", "refused", "expired", "cancelled_queued", "cancelled_running",
                              "superseded", "failed", "unreachable"}) {
    sum += cluster.metric("root", ended(kind, outcome));
  }
  return sum;
}
double sent(TestCluster& cluster, const std::string& kind) {
  return cluster.metric("root", "hedgerow_root_attempts_total{kind=\"" + kind + "\"}");
}

lab::SearchParameters asking_hedged(const std::string& hedge, const std::string& deadline = "20s") {
  return {{"k", "30"}, {"deadline", deadline}, {"hedge", hedge}, {"spelling", "off"}, {"snippets", "off"}};
}

}  // namespace

TEST_CASE("a late leaf is answered around by hedges, and a loser's answer is never merged (trap 13)") {
  TestCluster cluster(two_replicas(much_budget));
  const json expected = cluster.search("otter", asking_hedged("off")).json();
  REQUIRE(expected["finished"] == "complete");
  REQUIRE(expected["total"]["value"] == 200);

  const Duration delay = scaled(400ms);
  cluster.set_faults("leaf-1", {{{"kind", "late"}, {"delay", format_duration(delay)}, {"work", {"search"}}}});
  std::vector<double> took;
  std::uint64_t hedges = 0, won = 0;
  for (int i = 0; i < 40; ++i) {
    const json answer = cluster.search("otter", asking_hedged("20ms")).json();
    REQUIRE(answer["finished"] == "complete");
    CHECK(answer["hits"] == expected["hits"]);
    CHECK(answer["total"] == expected["total"]);
    hedges += answer["attempts"]["hedge"].get<std::uint64_t>();
    won += answer["attempts"]["hedge_won"].get<std::uint64_t>();
    took.push_back(answer["took_ms"]);
  }
  std::sort(took.begin(), took.end());
  MESSAGE(hedges, " hedges, ", won, " won; took_ms median ", took[20], ", max ", took.back(), " with a leaf ",
          to_milliseconds(delay), " ms late");
  CHECK(won > 0);
  CHECK(won <= hedges);
  CHECK(took[20] < to_milliseconds(delay) / 2);
  CHECK(sent(cluster, "hedge") == static_cast<double>(hedges));
  CHECK(cluster.metric("root", ended("hedge", "answered")) == static_cast<double>(won));
  // Of every attempt the leaves say at last what became of it, those included that lost (trap 19).
  CHECK(eventually(10s, [&] {
    return ended_in_all(cluster, "primary") == sent(cluster, "primary") && ended_in_all(cluster, "hedge") == sent(cluster, "hedge");
  }));
  CHECK(cluster.metric("root", ended("primary", "answered")) + static_cast<double>(won) == 41 * 8);
}

TEST_CASE("a hedge that the budget refuses leaves the query with what it has, and is counted (trap 14)") {
  TestCluster cluster(two_replicas({"--hedge-budget-fill=0", "--hedge-budget-depth=0"}));
  REQUIRE(cluster.search("otter", asking_hedged("off")).json()["finished"] == "complete");
  const Duration delay = scaled(300ms);
  cluster.set_faults("leaf-1", {{{"kind", "late"}, {"delay", format_duration(delay)}, {"work", {"search"}}}});
  std::size_t waited = 0;
  for (int i = 0; i < 6; ++i) {
    const json answer = cluster.search("otter", asking_hedged("10ms")).json();
    CHECK(answer["finished"] == "complete");
    CHECK(answer["attempts"]["hedge"] == 0);
    if (answer["took_ms"].get<double>() >= to_milliseconds(delay)) ++waited;
  }
  CHECK(waited > 0);
  CHECK(cluster.metric("root", "hedgerow_root_hedges_refused_total") > 0);

  // The budget is changed while the root runs, and hedges go out.
  const auto changed = cluster.ask("PUT", "/v1/hedging", R"({"budget_fill": 1, "budget_depth": 500})");
  CHECK(changed.status == 200);
  CHECK(cluster.ask("GET", "/v1/hedging").json()["budget"]["fill"] == 1.0);
  CHECK(cluster.cluster()["hedging"]["budget"]["depth"] == 500.0);
  std::uint64_t hedges = 0;
  for (int i = 0; i < 20; ++i) hedges += cluster.search("otter", asking_hedged("10ms")).json()["attempts"]["hedge"].get<std::uint64_t>();
  CHECK(hedges > 0);

  for (const char* body : {"", "[]", R"({"budget_fill": 2})", R"({"budget_fill": "1"})", R"({"budget_depth": -1})",
                           R"({"default": "fast"})", R"({"fill": 1})"}) {
    CAPTURE(body);
    const auto refused = cluster.ask("PUT", "/v1/hedging", body);
    CHECK(refused.status == 400);
    CHECK(refused.content_type == "application/problem+json");
  }
  CHECK(cluster.ask("GET", "/v1/hedging").json()["budget"]["fill"] == 1.0);
}

TEST_CASE("a connection that stalls after the query was sent hangs nothing, with hedges and without (trap 21)") {
  std::vector<std::string> root{"--link-idle-time=1h"};
  root.insert(root.end(), much_budget.begin(), much_budget.end());
  ClusterOptions options = two_replicas(root);
  options.leaf_arguments = {"--idle-time=1h"};
  TestCluster cluster(options);
  for (int i = 0; i < 10; ++i) REQUIRE(cluster.search("otter", asking_hedged("off")).json()["finished"] == "complete");
  cluster.act("leaf-2", "stop");
  std::uint64_t won = 0;
  for (int i = 0; i < 10; ++i) {
    const auto reply = cluster.search("otter", asking_hedged("20ms", "10s"));
    REQUIRE(reply.json()["finished"] == "complete");
    CHECK(reply.took() < 5s);
    won += reply.json()["attempts"]["hedge_won"].get<std::uint64_t>();
  }
  CHECK(won > 0);
  for (int i = 0; i < 4; ++i) {
    const auto reply = cluster.search("otter", asking_hedged("off", "300ms"));
    CHECK(reply.status == 200);
    CHECK(reply.took() < scaled(2s));
  }
  cluster.act("leaf-2", "continue");
}

TEST_CASE("a leaf that takes everything and answers nothing costs bounded memory and bounded waiting (trap 24)") {
  ClusterOptions options = two_replicas({"--link-idle-time=1h", "--unanswered-bytes=20000"});
  options.leaf_arguments = {"--idle-time=1h"};
  TestCluster cluster(options);
  for (int i = 0; i < 5; ++i) REQUIRE(cluster.search("otter", asking_hedged("off")).json()["finished"] == "complete");
  cluster.act("leaf-2", "stop");
  std::uint64_t most = 0;
  std::size_t beyond = 0;
  for (int round = 0; round < 10; ++round) {
    ask_all(
        cluster.root_address(), 4, 40, [](std::size_t) { return search_target("otter", asking_hedged("off", "50ms")); },
        [&](std::size_t, const Reply& reply) {
          CHECK((reply.status == 200 || reply.status == 504));
          if (reply.took() > scaled(1s)) ++beyond;
        });
    most = std::max(most, cluster.leaf("leaf-2")["unanswered_bytes"].get<std::uint64_t>());
  }
  MESSAGE("most unanswered bytes seen: ", most);
  CHECK(most < 25'000);
  CHECK(beyond == 0);
  CHECK(cluster.metric("root", "hedgerow_root_links_lost_total") >= 1);
  cluster.act("leaf-2", "continue");
}

TEST_CASE("when the client goes away, work of hedges and of what they hedge leaves the leaves' queues (trap 23)") {
  TestCluster cluster(two_replicas(much_budget));
  REQUIRE(cluster.search("otter", asking_hedged("off")).json()["finished"] == "complete");
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "pause"}}});
  const auto queued = [&] {
    double sum = 0;
    for (const auto& leaf : cluster.leaves()) sum += cluster.metric(leaf, "hedgerow_leaf_queued_attempts");
    return sum;
  };
  const auto executed = [&] {
    double sum = 0;
    for (const auto& leaf : cluster.leaves()) sum += cluster.metric(leaf, "hedgerow_leaf_work_executed_total{work=\"search\"}");
    return sum;
  };
  const double before = executed();
  RawClient client(cluster.root_address());
  client.send("GET " + search_target("otter", asking_hedged("5ms", "60s")) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  REQUIRE(eventually(10s, [&] { return queued() == 16; }));  // each partition, and its hedge
  client.close();
  CHECK(eventually(10s, [&] { return queued() == 0; }));
  for (const auto& leaf : cluster.leaves()) cluster.clear_faults(leaf);
  CHECK(cluster.search("otter", asking_hedged("off")).json()["finished"] == "complete");
  CHECK(executed() == before + 8);
  CHECK(eventually(10s, [&] { return cluster.metric("root", ended("hedge", "cancelled_queued")) == 8; }));
}

TEST_CASE("hedging that can have no effect says so, in the log at start and in /v1/cluster (trap 20)") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 2, .replicas = 1});
  CHECK(cluster.cluster()["hedging"]["obstacle"] == "no_replica");
  CHECK(cluster.log("root").find("hedging_without_effect") != std::string::npos);
  const json answer = cluster.search("otter", asking_hedged("1ms")).json();
  CHECK(answer["finished"] == "complete");
  CHECK(answer["attempts"]["hedge"] == 0);
}
