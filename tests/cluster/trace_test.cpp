// trace=on tells each attempt's way: kind, leaf, partition, sent, queued, started, ended, outcome.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

const std::set<std::string> kinds{"primary", "retry", "hedge", "tied", "canary", "probe"};

lab::SearchParameters asking(const std::string& deadline, lab::SearchParameters more) {
  lab::SearchParameters parameters{{"deadline", deadline}, {"trace", "on"}, {"spelling", "off"}, {"snippets", "off"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  return parameters;
}

// The search attempts by kind, in an order of times that can be: sent, queued, started, ended.
std::map<std::string, std::uint64_t> attempts_in_order(const nlohmann::json& answer) {
  std::map<std::string, std::uint64_t> count;
  for (const auto& attempt : answer["trace"]) {
    CAPTURE(attempt.dump());
    double last = 0;
    for (const char* time : {"sent_ms", "queued_ms", "started_ms", "ended_ms"}) {
      if (!attempt.contains(time)) continue;
      CHECK(attempt[time].get<double>() >= last);
      last = attempt[time];
    }
    CHECK(attempt["outcome"] != "");
    if (!attempt.contains("partition")) continue;
    CHECK(kinds.contains(attempt["kind"]));
    ++count[attempt["kind"]];
    if (attempt["outcome"] == "answered" || attempt["outcome"] == "won") CHECK(attempt.contains("started_ms"));
  }
  return count;
}

std::size_t with_outcome(const nlohmann::json& answer, const std::string& leaf, const std::string& kind, const std::string& outcome) {
  std::size_t count = 0;
  for (const auto& attempt : answer["trace"]) {
    if (attempt["leaf"] == leaf && attempt["kind"] == kind && attempt["outcome"] == outcome) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("a trace shows who was asked, who won, who lost, and who was late") {
  TestCluster cluster({.index = animal_index().directory, .replicas = 2, .allow_faults = true,
                       .root_arguments = {"--replica-choice=random", "--hedge-budget-fill=1"}});
  const Duration delay = scaled(500ms);
  cluster.search("otter", asking("20s", {}));
  cluster.set_faults("leaf-1", {{{"kind", "late"}, {"delay", format_duration(delay)}, {"work", {"search"}}}});
  bool overtaken = false;
  for (int i = 0; i < 20 && !overtaken; ++i) {
    const auto answer = cluster.search("otter", asking("20s", {{"hedge", "20ms"}})).json();
    const auto count = attempts_in_order(answer);
    CHECK(count.at("primary") == answer["attempts"]["primary"]);
    CHECK((count.contains("hedge") ? count.at("hedge") : 0) == answer["attempts"]["hedge"]);
    const std::size_t lost = with_outcome(answer, "leaf-1", "primary", "lost");
    std::size_t won = 0;
    for (const auto& leaf : cluster.leaves()) won += with_outcome(answer, leaf, "hedge", "won");
    CHECK(won == answer["attempts"]["hedge_won"]);
    CHECK(won >= lost);
    overtaken = lost > 0;
  }
  CHECK(overtaken);

  // Late, and nobody to turn to: cancelled at the deadline.
  bool cancelled = false;
  for (int i = 0; i < 20 && !cancelled; ++i) {
    const auto answer = cluster.search("otter", asking("250ms", {{"hedge", "off"}})).json();
    attempts_in_order(answer);
    cancelled = with_outcome(answer, "leaf-1", "primary", "cancelled") > 0;
    if (cancelled) CHECK(answer["finished"] == "deadline");
  }
  CHECK(cancelled);
}

TEST_CASE("a trace shows both halves of tied pairs, and which of them was superseded") {
  TestCluster cluster({.index = animal_index().directory, .replicas = 2, .allow_faults = true});
  for (int i = 0; i < 5; ++i) cluster.search("otter", asking("20s", {{"tied", "on"}}));
  cluster.set_faults("leaf-1", {{{"kind", "pause"}}});
  std::size_t let_go = 0;
  for (int i = 0; i < 10 && let_go == 0; ++i) {
    const auto answer = cluster.search("otter", asking("20s", {{"tied", "on"}, {"hedge", "off"}})).json();
    const auto count = attempts_in_order(answer);
    CHECK(count.at("tied") == answer["attempts"]["tied"]);
    let_go += with_outcome(answer, "leaf-1", "tied", "superseded") + with_outcome(answer, "leaf-1", "tied", "lost");
  }
  CHECK(let_go > 0);
  cluster.clear_faults("leaf-1");
}
