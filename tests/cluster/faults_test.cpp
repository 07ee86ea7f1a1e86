// Injected faults, set and cleared through the root, do to a leaf what they say, and nothing to the others.
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

ClusterOptions animals(std::size_t replicas, std::vector<std::string> leaf_arguments = {}) {
  return {.index = animal_index().directory, .replicas = replicas, .workers = 1, .allow_faults = true,
          .leaf_arguments = std::move(leaf_arguments)};
}

json complete_answer(TestCluster& cluster, const std::string& query, const lab::SearchParameters& more = {}) {
  lab::SearchParameters parameters{{"deadline", "20s"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  const auto answer = cluster.search(query, parameters).json();
  CHECK_MESSAGE(answer["finished"] == "complete", answer.dump());
  return answer;
}

}  // namespace

TEST_CASE("late delays a leaf's answers and occupies no worker, hold occupies one") {
  TestCluster cluster(animals(1));
  complete_answer(cluster, "otter");
  complete_answer(cluster, "badger");
  const Duration delay = scaled(700ms);

  // The leaf's one worker goes on with other queries while an answer is held back.
  cluster.set_faults("leaf-0", {{{"kind", "late"}, {"delay", format_duration(delay)}, {"word", "otter"}, {"work", {"search"}}}});
  auto slow = ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "60s"}, {"trace", "on"}}));
  REQUIRE(eventually(5s, [&] { return cluster.faults("leaf-0")[0]["applied"] == 2; }));  // both partitions' attempts
  const auto fast = complete_answer(cluster, "badger");
  CHECK(slow.wait_for(0s) == std::future_status::timeout);
  const auto slow_answer = slow.get().json();
  CHECK(slow_answer["finished"] == "complete");
  CHECK(slow_answer["took_ms"].get<double>() >= to_milliseconds(delay));
  CHECK(fast["took_ms"].get<double>() < to_milliseconds(delay) / 2);
  std::size_t traced = 0;
  for (const auto& attempt : slow_answer["trace"]) {
    if (attempt.value("fault", "") == "") continue;
    ++traced;
    CHECK(attempt["leaf"] == "leaf-0");
    CHECK(attempt["fault"] == "late " + format_duration(delay));
    CHECK(attempt["outcome"] == "answered");
  }
  CHECK(traced == 2);

  // The same as a hold: the other query waits for the worker.
  cluster.set_faults("leaf-0", {{{"kind", "hold"}, {"delay", format_duration(delay)}, {"word", "otter"}, {"work", {"search"}}}});
  auto held = ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "60s"}, {"class", "interactive"}}));
  REQUIRE(eventually(5s, [&] { return cluster.faults("leaf-0")[0]["applied"] == 2; }));
  // Behind the first of the two holds at least.
  const auto waiting = complete_answer(cluster, "badger", {{"trace", "on"}});
  CHECK(waiting["took_ms"].get<double>() > to_milliseconds(delay) / 2);
  CHECK(held.get().json()["finished"] == "complete");
  CHECK(cluster.metric("leaf-0", "hedgerow_leaf_faults_total{kind=\"hold\"}") == 2);
  CHECK(cluster.metric("leaf-0", "hedgerow_leaf_faults_total{kind=\"late\"}") == 2);

  cluster.clear_faults("leaf-0");
  CHECK(cluster.faults("leaf-0").empty());
  CHECK(complete_answer(cluster, "otter")["took_ms"].get<double>() < to_milliseconds(delay) / 2);
}

TEST_CASE("a paused leaf fills its queue, refuses at once beyond it, and executes nothing whose time is over") {
  TestCluster cluster(animals(1, {"--queue-capacity=4"}));
  complete_answer(cluster, "otter");
  const auto partitions = cluster.partitions_of("leaf-1");
  const double executed_before = cluster.metric("leaf-1", executed_searches);
  cluster.set_faults("leaf-1", {{{"kind", "pause"}}});

  std::vector<std::future<Reply>> waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.push_back(ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "2s"}})));
  }
  REQUIRE(eventually(2s, [&] { return cluster.metric("leaf-1", "hedgerow_leaf_queued_attempts") == 4; }));
  const auto refused = cluster.search("badger", {{"deadline", "60s"}});
  CHECK(missing_of(refused.json()) == all_for(partitions, "refused"));
  CHECK(refused.json()["finished"] == "exhausted");
  CHECK(refused.took() < 30s);
  for (auto& reply : waiting) CHECK(missing_of(reply.get().json()) == all_for(partitions, "late"));
  CHECK(eventually(5s, [&] {
    return cluster.metric("leaf-1", searches_ended("expired")) + cluster.metric("leaf-1", searches_ended("cancelled_queued")) == 4;
  }));
  CHECK(cluster.metric("leaf-1", searches_ended("refused")) == 2);
  CHECK(cluster.metric("leaf-1", executed_searches) == executed_before);

  // What waits when the pause ends is done.
  auto last = ask_in_background(cluster.root_address(), search_target("otter", {{"deadline", "60s"}}));
  REQUIRE(eventually(5s, [&] { return cluster.metric("leaf-1", "hedgerow_leaf_queued_attempts") == 2; }));
  cluster.clear_faults("leaf-1");
  CHECK(last.get().json()["finished"] == "complete");
  CHECK(cluster.metric("leaf-1", executed_searches) == executed_before + 2);
}

TEST_CASE("an error is retried on the other replica, and named where there is none") {
  {
    TestCluster cluster(animals(2));
    cluster.set_faults("leaf-0", {{{"kind", "error"}, {"word", "otter"}}});
    std::size_t retries = 0;
    for (int i = 0; i < 10; ++i) retries += complete_answer(cluster, "otter")["attempts"]["retry"].get<std::size_t>();
    CHECK(retries > 0);
    CHECK(retries == cluster.faults("leaf-0")[0]["applied"]);
    CHECK(cluster.metric("root", "hedgerow_root_attempts_total{kind=\"retry\"}") == retries);
  }
  TestCluster cluster(animals(1));
  cluster.set_faults("leaf-0", {{{"kind", "error"}, {"word", "otter"}}});
  const auto answer = cluster.search("otter", {{"deadline", "20s"}, {"trace", "on"}}).json();
  CHECK(missing_of(answer) == all_for(cluster.partitions_of("leaf-0"), "failed"));
  CHECK(answer["finished"] == "exhausted");
  CHECK(hits_are_whole(answer));
  for (const auto& attempt : answer["trace"]) {
    if (attempt["leaf"] == "leaf-0") CHECK(attempt["outcome"] == "failed");
  }
  complete_answer(cluster, "badger");
}

TEST_CASE("a second phase that fails on one leaf turns to the other replica") {
  // Replicas by chance, and searches unharmed: so this leaf finds some of the hits, and is the first to be asked for them.
  auto options = animals(2);
  options.root_arguments = {"--replica-choice=random", "--titles-with-hits=2"};
  TestCluster cluster(options);
  cluster.set_faults("leaf-2", {{{"kind", "error"}, {"work", {"fetch"}}}});
  for (int i = 0; i < 20; ++i) {
    const auto answer = complete_answer(cluster, "common", {{"k", "30"}});
    CHECK(answer["hits"].size() == 30);
    CHECK(hits_are_whole(answer));
  }
  CHECK(cluster.metric("leaf-2", "hedgerow_leaf_work_total{outcome=\"failed\",work=\"fetch\"}") > 0);
}

TEST_CASE("hits whose titles came with them need no second phase: one that fails everywhere costs them nothing") {
  auto options = animals(1);
  options.root_arguments = {"--titles-with-hits=0"};
  TestCluster cluster(options);
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "error"}, {"work", {"fetch"}}}});
  const auto answer = complete_answer(cluster, "common", {{"k", "10"}});
  CHECK(answer["hits"].size() == 10);
  CHECK(hits_are_whole(answer));
  CHECK(cluster.metric("root", "hedgerow_root_titles_total{way=\"with_hit\"}") == 10);
  CHECK(cluster.metric("root", "hedgerow_root_titles_total{way=\"fetched\"}") == 0);
}

TEST_CASE("a crash on a word ends one leaf, costs its partitions alone, and is reported and not mended in silence") {
  TestCluster cluster(animals(1));
  complete_answer(cluster, "otter");
  const int crashed = cluster.pid("leaf-1");
  const int healthy = cluster.pid("leaf-0");
  cluster.set_faults("leaf-1", {{{"kind", "crash"}, {"word", "otter"}}});
  complete_answer(cluster, "badger");
  CHECK(runs(crashed));

  const auto reply = cluster.search("otter", {{"deadline", "20s"}});
  CHECK(reply.status == 200);
  CHECK(missing_of(reply.json()) == all_for(cluster.partitions_of("leaf-1"), "failed"));
  CHECK(reply.took() < 10s);
  CHECK(eventually(5s, [&] { return !runs(crashed); }));
  CHECK(eventually(5s, [&] { return cluster.process("leaf-1")["state"] == "ended"; }));
  CHECK(cluster.process("leaf-1")["end"]["signal"] == 9);
  CHECK(eventually(5s, [&] { return cluster.log("up").find("leaf-1 (pid " + std::to_string(crashed) + ") ended by itself") != std::string::npos; }));

  for (int i = 0; i < 5; ++i) {
    const auto answer = cluster.search("badger", {{"deadline", "20s"}}).json();
    CHECK(missing_of(answer) == all_for(cluster.partitions_of("leaf-1"), "failed"));
  }
  CHECK(cluster.process("leaf-1")["starts"] == 1);
  CHECK(cluster.pid("leaf-0") == healthy);
  cluster.act("leaf-1", "start");
  REQUIRE(cluster.becomes_serving("leaf-1", 5s));
  complete_answer(cluster, "otter");  // a process that starts anew has no faults
}

TEST_CASE("a fault with a probability hits the same queries again for the same seed, and others for another") {
  TestCluster cluster(animals(1));
  const auto partitions = cluster.partitions_of("leaf-3");
  const auto run = [&](int seed) {
    cluster.set_faults("leaf-3", {{{"kind", "error"}, {"probability", 0.5}, {"seed", seed}, {"word", "otter"}, {"work", {"search"}}}});
    std::vector<std::map<std::uint32_t, std::string>> missing;
    for (int i = 0; i < 30; ++i) missing.push_back(missing_of(cluster.search("otter", {{"deadline", "20s"}}).json()));
    return missing;
  };
  const auto first = run(7);
  const auto listed = cluster.faults("leaf-3");
  REQUIRE(listed.size() == 1);
  CHECK(listed[0]["kind"] == "error");
  CHECK(listed[0]["probability"] == 0.5);
  CHECK(listed[0]["seed"] == 7);
  CHECK(listed[0]["word"] == "otter");
  std::size_t hit = 0;
  for (const auto& missing : first) {
    for (const auto& [partition, reason] : missing) {
      ++hit;
      CHECK(std::count(partitions.begin(), partitions.end(), partition) == 1);
      CHECK(reason == "failed");
    }
  }
  CHECK(listed[0]["applied"] == hit);
  // 60 attempts at one half: outside of 15 to 45 once in 10,000 seeds.
  CHECK(hit >= 15);
  CHECK(hit <= 45);
  CHECK(run(7) == first);
  CHECK(run(8) != first);
}
