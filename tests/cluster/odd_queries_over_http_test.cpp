// What people type by accident: over HTTP each gets an answer or a 400 that says why, and nothing crashes or hangs. The
// table is tests/index/odd_queries.
#include <doctest/doctest.h>

#include <cstdio>

#include "../index/odd_queries.hpp"
#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

TEST_CASE("every odd query over HTTP is answered or refused as the table says, and the cluster is whole afterwards") {
  REQUIRE(odd_queries().size() >= 200);
  TestCluster cluster({.index = shelf_index().directory, .replicas = 2});
  std::vector<int> pids{cluster.pid("root")};
  for (const auto& leaf : cluster.leaves()) pids.push_back(cluster.pid(leaf));
  std::size_t answered = 0, refused = 0;
  for (const auto& odd : odd_queries()) {
    CAPTURE(odd.text.substr(0, 200));
    const auto reply = cluster.search(odd.text, {{"deadline", "20s"}, {"facets", "section"}});
    CAPTURE(reply.status);
    CAPTURE(reply.body.substr(0, 400));
    CHECK(reply.took() < 10s);
    const auto body = reply.json();
    REQUIRE(body.is_object());
    if (odd.outcome == OddOutcome::answer) {
      ++answered;
      CHECK(reply.status == 200);
      CHECK(body["finished"] == "complete");
      CHECK(body["hits"].is_array());
    } else {
      ++refused;
      // A target beyond the size of a request's head is refused before anybody reads the query.
      const bool head_too_large = reply.status == 431 && odd.outcome == OddOutcome::too_large;
      CHECK((reply.status == 400 || head_too_large));
      if (reply.status == 400) {
        CHECK(body["type"] == (odd.outcome == OddOutcome::too_large ? "urn:hedgerow:problem:query-too-large" : "urn:hedgerow:problem:bad-query"));
        CHECK(body["parameter"] == "q");
        CHECK(body["detail"].get<std::string>().size() > 10);
      }
    }
  }
  MESSAGE(answered, " answered, ", refused, " refused");
  std::size_t at = 0;
  CHECK(cluster.pid("root") == pids[at++]);
  for (const auto& leaf : cluster.leaves()) CHECK(cluster.pid(leaf) == pids[at++]);
  CHECK(cluster.metric("root", "hedgerow_root_links_lost_total") == 0);
  CHECK(cluster.search("novel", {{"deadline", "20s"}}).json()["finished"] == "complete");
}
