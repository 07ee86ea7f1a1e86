// What the kinds of faults do to a cluster's answers, how faults are chosen by query and by time, and how all leaves' faults
// are set at once.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

ClusterOptions faulty(const TestIndex& index, std::size_t replicas, std::vector<std::string> root_arguments = {}) {
  return {.index = index.directory, .replicas = replicas, .workers = 1, .allow_faults = true, .root_arguments = std::move(root_arguments)};
}

json whole_answer(TestCluster& cluster, const std::string& query, const lab::SearchParameters& more = {}) {
  lab::SearchParameters parameters{{"deadline", "20s"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  const auto reply = cluster.search(query, parameters);
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  CHECK_MESSAGE(reply.json()["finished"] == "complete", reply.body);
  return reply.json();
}

double faults_met(TestCluster& cluster, const std::string& leaf, const std::string& kind) {
  return cluster.metric(leaf, "hedgerow_leaf_faults_total{kind=\"" + kind + "\"}");
}

json listings(const Reply& reply) {
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json()["leaves"];
}

}  // namespace

TEST_CASE("a trace shows what was injected into searches, fetches and every subsystem, where they answered and where they failed") {
  TestCluster cluster(faulty(shelf_index(), 1, {"--titles-with-hits=2"}));
  const auto trace_with = [&](const char* faults) {
    listings(cluster.control("PUT", "/v1/faults", faults));
    return cluster.search("mistake novel", {{"deadline", "20s"}, {"grace", "20s"}, {"facets", "section"}, {"trace", "on"}}).json()["trace"];
  };
  std::set<std::string> kinds;
  for (const auto& entry : trace_with(R"([{"kind": "late", "delay": "1ms"}])")) {
    kinds.insert(entry["kind"]);
    CHECK_MESSAGE(entry["outcome"] == "answered", entry.dump());
    CHECK_MESSAGE(entry.value("fault", "") == "late 1ms", entry.dump());
  }
  CHECK(kinds == std::set<std::string>{"primary", "fetch", "spelling", "snippets", "facets"});

  kinds.clear();
  for (const auto& entry : trace_with(R"([{"kind": "error", "work": ["spelling", "facets", "snippets"]}, {"kind": "refused", "work": ["fetch"], "leaf": 0}])")) {
    if (entry["outcome"] != "failed" && entry["outcome"] != "refused") continue;
    kinds.insert(entry["kind"]);
    const char* expected = entry["kind"] == "fetch" ? "refused" : "error";
    CHECK_MESSAGE(entry.value("fault", "") == expected, entry.dump());
  }
  CHECK(kinds.contains("spelling"));
  CHECK(kinds.contains("facets"));
  CHECK(kinds.contains("snippets"));
}

TEST_CASE("an injected refusal turns the query to the other replica, and without one its partitions are refused") {
  {
    TestCluster cluster(faulty(animal_index(), 2));
    cluster.set_faults("leaf-0", {{{"kind", "refused"}, {"word", "otter"}}});
    std::size_t retries = 0;
    for (int i = 0; i < 10; ++i) retries += whole_answer(cluster, "otter")["attempts"]["retry"].get<std::size_t>();
    CHECK(retries > 0);
    CHECK(retries == faults_met(cluster, "leaf-0", "refused"));
  }
  TestCluster cluster(faulty(animal_index(), 1));
  cluster.set_faults("leaf-0", {{{"kind", "refused"}, {"word", "otter"}}});
  const auto answer = cluster.search("otter", {{"deadline", "20s"}}).json();
  CHECK(missing_of(answer) == all_for(cluster.partitions_of("leaf-0"), "refused"));
  CHECK(answer["finished"] == "exhausted");
}

TEST_CASE("a black hole costs its partitions and no more time than there was, and a hedge goes around it") {
  {
    TestCluster cluster(faulty(animal_index(), 1));
    // A first query opens files; what it takes is no matter of this law.
    whole_answer(cluster, "otter");
    cluster.set_faults("leaf-1", {{{"kind", "black_hole"}, {"word", "otter"}}});
    const auto reply = cluster.search("otter", {{"deadline", format_duration(scaled(1s))}});
    CHECK_MESSAGE(missing_of(reply.json()) == all_for(cluster.partitions_of("leaf-1"), "late"), reply.body);
    CHECK(reply.json()["finished"] == "deadline");
    whole_answer(cluster, "badger");
    CHECK(cluster.leaf("leaf-1")["state"] == "serving");
    CHECK(cluster.metric("leaf-1", "hedgerow_leaf_work_total{outcome=\"swallowed\",work=\"search\"}") == 2);
  }
  TestCluster cluster(faulty(animal_index(), 2, {"--replica-choice=random", "--hedge-budget-fill=1"}));
  cluster.set_faults("leaf-1", {{{"kind", "black_hole"}, {"word", "otter"}, {"work", {"search"}}}});
  std::size_t won = 0;
  for (int i = 0; i < 20; ++i) won += whole_answer(cluster, "otter", {{"hedge", "20ms"}})["attempts"]["hedge_won"].get<std::size_t>();
  CHECK(won > 0);
  CHECK(faults_met(cluster, "leaf-1", "black_hole") > 0);
}

TEST_CASE("garbage costs the leaf its link and the query that leaf's partitions, and the leaf is back once it is cleared") {
  TestCluster cluster(faulty(animal_index(), 1));
  whole_answer(cluster, "otter");
  cluster.set_faults("leaf-1", {{{"kind", "garbage"}, {"word", "otter"}}});
  const auto answer = cluster.search("otter", {{"deadline", "20s"}}).json();
  CHECK(missing_of(answer) == all_for(cluster.partitions_of("leaf-1"), "failed"));
  CHECK(hits_are_whole(answer));
  CHECK(eventually(5s, [&] { return cluster.metric("root", "hedgerow_root_links_dropped_total") >= 1; }));
  CHECK(cluster.leaf("leaf-0")["state"] == "serving");
  cluster.clear_faults("leaf-1");
  REQUIRE(cluster.becomes_serving("leaf-1", 10s));
  whole_answer(cluster, "otter");
}

TEST_CASE("burning the processor delays the answer by at least so much, and says so") {
  TestCluster cluster(faulty(animal_index(), 1));
  cluster.set_faults("leaf-0", {{{"kind", "burn"}, {"delay", "60ms"}, {"work", {"search"}}, {"partitions", {cluster.partitions_of("leaf-0")[0]}}}});
  const auto answer = whole_answer(cluster, "otter", {{"trace", "on"}});
  CHECK(answer["took_ms"].get<double>() >= 60);
  int burnt = 0;
  for (const auto& entry : answer["trace"]) {
    if (entry.value("fault", "") == "") continue;
    ++burnt;
    CHECK(entry["fault"] == "burn 60ms");
    CHECK(entry["partition"] == cluster.partitions_of("leaf-0")[0]);
    CHECK(entry["service_ms"].get<double>() >= 60);
  }
  CHECK(burnt == 1);
}

TEST_CASE("a fault drawn per query befalls all of a query or nothing of it, drawn per work it befalls a part of most") {
  TestCluster cluster(faulty(animal_index(), 1));
  const auto befallen = [&](const char* per) {
    listings(cluster.control("PUT", "/v1/faults", json::array({json{{"kind", "error"}, {"probability", 0.5}, {"per", per}, {"work", {"search"}}}}).dump()));
    std::array<int, 3> by_share{};  // nothing, a part, all
    for (int i = 0; i < 40; ++i) {
      const auto reply = cluster.search("common solo" + std::to_string(i), {{"deadline", "20s"}});
      const std::size_t missing = reply.status == 200 ? missing_of(reply.json()).size() : 8;
      ++by_share[missing == 0 ? 0 : missing < 8 ? 1 : 2];
    }
    return by_share;
  };
  const auto [nothing, part, all] = befallen("query");
  // 20 expected of each, with a standard deviation of 3.2.
  CHECK(part == 0);
  CHECK(nothing >= 7);
  CHECK(all >= 7);
  // The same queries meet the same fate again.
  CHECK(befallen("query") == std::array<int, 3>{nothing, part, all});
  // Eight coins agree once in 128.
  CHECK(befallen("work")[1] >= 35);
}

TEST_CASE("a fault that is set for a time is over by itself") {
  TestCluster cluster(faulty(animal_index(), 1));
  whole_answer(cluster, "otter");
  cluster.set_faults("leaf-1", {{{"kind", "pause"}, {"for", format_duration(scaled(500ms))}}});
  const auto answer = whole_answer(cluster, "otter", {{"trace", "on"}});
  for (const auto& entry : answer["trace"]) {
    const bool there = entry["leaf"] == "leaf-1" && entry["kind"] == "primary";
    if (there) CHECK_MESSAGE(entry.value("fault", "") == "pause", entry.dump());
    if (entry["leaf"] != "leaf-1") CHECK_FALSE(entry.contains("fault"));
  }
  CHECK(cluster.faults("leaf-1")[0]["state"] == "over");
  CHECK(cluster.faults("leaf-1")[0]["applied"] == 1);
  CHECK_FALSE(whole_answer(cluster, "otter", {{"trace", "on"}})["trace"].dump().find("fault") != std::string::npos);
}

TEST_CASE("the faults of all leaves are set, listed and cleared at once over the laboratory's control API, and wrong ones set nothing") {
  TestCluster cluster(faulty(animal_index(), 1));
  const auto set = listings(cluster.control("PUT", "/v1/faults",
                                            R"([{"kind": "late", "delay": "1ms"}, {"kind": "error", "word": "otter", "leaves": ["leaf-2", "leaf-3"]},
                                                {"kind": "background", "period": "1h", "length": "1s", "phase": "staggered"}])"));
  CHECK(set.size() == 4);
  for (const auto& leaf : cluster.leaves()) {
    CAPTURE(leaf);
    const bool named = leaf == "leaf-2" || leaf == "leaf-3";
    CHECK(set[leaf]["faults"].size() == (named ? 3 : 2));
    CHECK(cluster.faults(leaf) == set[leaf]["faults"]);
  }
  CHECK(set["leaf-0"]["faults"][1]["phase"] == "0ms");
  CHECK(set["leaf-1"]["faults"][1]["phase"] == "15m");
  const auto missing = missing_of(cluster.search("otter", {{"deadline", "20s"}}).json());
  CHECK(missing.size() == 4);

  struct Row {
    const char* body;
    int status;
    const char* named;
  };
  const Row rows[] = {{"[", 400, "JSON"},
                      {"{}", 400, "list of faults"},
                      {R"([{"kind": "error"}, {"kind": "late"}])", 400, "fault 2: 'delay' is missing"},
                      {R"([{"kind": "error", "leaf": 4}])", 400, "fault 1: 'leaf'"},
                      {R"([{"kind": "late", "delay": "empirical:/etc/passwd"}])", 400, "no file is read here"}};
  for (const Row& row : rows) {
    CAPTURE(row.body);
    const auto reply = cluster.control("PUT", "/v1/faults", row.body);
    CHECK(reply.status == row.status);
    CHECK_MESSAGE(reply.json()["detail"].get<std::string>().find(row.named) != std::string::npos, reply.body);
  }
  const auto listed = listings(cluster.control("GET", "/v1/faults"));
  CHECK(listed["leaf-3"]["faults"].size() == 3);
  CHECK(listed["leaf-3"]["faults"][1]["applied"].get<int>() == 2);

  const auto cleared = listings(cluster.control("DELETE", "/v1/faults"));
  for (const auto& leaf : cluster.leaves()) CHECK(cleared[leaf]["faults"].empty());
  whole_answer(cluster, "otter");

  // A leaf that cannot be asked is named, and the others are set.
  cluster.act("leaf-1", "kill");
  const auto partly = cluster.control("PUT", "/v1/faults", R"([{"kind": "late", "delay": "1ms"}])");
  CHECK(partly.status == 502);
  CHECK(partly.json()["type"] == "urn:hedgerow:problem:leaf-unreachable");
  CHECK(partly.json()["detail"].get<std::string>().find("'leaf-1'") != std::string::npos);
  CHECK(partly.json()["detail"].get<std::string>().find("'leaf-0'") == std::string::npos);
  CHECK(cluster.faults("leaf-3").size() == 1);
}

TEST_CASE("leaves that take no faults refuse them over the control API as well") {
  TestCluster cluster({.index = animal_index().directory});
  const auto reply = cluster.control("PUT", "/v1/faults", R"([{"kind": "crash"}])");
  CHECK(reply.status == 409);
  CHECK(reply.json()["type"] == "urn:hedgerow:problem:faults-refused");
  const auto listed = listings(cluster.control("GET", "/v1/faults"));
  for (const auto& leaf : cluster.leaves()) CHECK(listed[leaf]["allowed"] == false);
  CHECK(cluster.search("otter", {{"deadline", "20s"}}).status == 200);
}
