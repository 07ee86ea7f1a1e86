// What a canary costs a query that nobody has asked before: one hop to one leaf and back, and whoever asks it again
// nothing. scripts/check-canary is the long version.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "cluster_fixture.hpp"
#include "control_timer.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

TEST_CASE("a first query costs one hop more with its canary, and the next one nothing") {
  const std::size_t queries = count_from_environment("HEDGEROW_CANARY_QUERIES", under_sanitizer ? 100 : 500);
  TestCluster cluster({.index = measured_index().directory, .leaves = 8, .replicas = 2, .canary = "auto"});
  const auto took = [&](const std::string& query, const std::string& canary) {
    const auto reply = cluster.search(query, {{"deadline", "10s"}, {"canary", canary}, {"spelling", "off"}});
    REQUIRE(reply.status == 200);
    const auto answer = reply.json();
    CHECK(answer["finished"] == "complete");
    const auto canaries = answer["attempts"]["canary"].get<int>();
    const auto primaries = answer["attempts"]["primary"].get<int>();
    CHECK(canaries + primaries >= 8);
    return std::pair(answer["took_ms"].get<double>(), canaries);
  };
  for (std::size_t i = 0; i < 200; ++i) took(measured_query(i), "off");

  // Each query is asked without a canary, for the first time, and again; by chance which of the first two comes first, so
  // that what the machine and its caches do meets both alike.
  std::vector<double> off, first, again;
  std::size_t canaries = 0;
  Random random(1);
  for (std::size_t i = 0; i < queries; ++i) {
    // A word that no other query has makes it one that nobody has asked, whatever the others draw.
    const std::string query = measured_query(1000 + i) + " -unheard" + std::to_string(i);
    const auto without = [&] { off.push_back(took(query, "off").first); };
    const bool off_first = random.chance(0.5);
    if (off_first) without();
    const auto [time, sent] = took(query, "auto");
    first.push_back(time);
    canaries += static_cast<std::size_t>(sent);
    CHECK(sent >= 1);
    if (!off_first) without();
    const auto [time_again, sent_again] = took(query, "auto");
    again.push_back(time_again);
    CHECK(sent_again == 0);
  }
  for (auto* times : {&off, &first, &again}) std::sort(times->begin(), times->end());
  const auto told = [](const std::vector<double>& times) {
    return std::to_string(quantile(times, 0.5)) + " / " + std::to_string(quantile(times, 0.99)) + " ms";
  };
  MESSAGE(queries, " queries, p50 / p99 of took_ms: canary=off ", told(off), ", first seen with canary=auto ", told(first),
          ", asked again ", told(again), "; ", canaries, " canaries");
  if (under_sanitizer) return;
  // A hop is a share of a whole search: it asks one leaf, which asks eight. Generous, for busy machines.
  CHECK(quantile(first, 0.5) <= 2 * quantile(off, 0.5) + 1);
  CHECK(quantile(again, 0.5) <= 1.25 * quantile(off, 0.5) + 0.25);
  CHECK(canaries <= queries + queries / 5);
}
