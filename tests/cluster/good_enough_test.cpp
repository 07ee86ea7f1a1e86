// Good enough: an answer goes before its deadline once it has enough, and says what it lacks.
#include <doctest/doctest.h>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

lab::SearchParameters asking(const std::string& min_completeness, const std::string& partial = "allow") {
  return {{"deadline", format_duration(scaled(2s))}, {"min_completeness", min_completeness}, {"partial", partial},
          {"hedge", "off"}, {"spelling", "off"}, {"snippets", "off"}};
}

}  // namespace

TEST_CASE("with enough there and little to wait for, the answer goes early, says what is missing, and is no answer to those who demand all") {
  TestCluster cluster({.index = animal_index().directory, .allow_faults = true});
  // What is usual has to be known.
  for (int i = 0; i < 60; ++i) REQUIRE(cluster.search("otter", asking("1")).json()["finished"] == "complete");
  const auto slow = cluster.partitions_of("leaf-3");
  const Duration delay = scaled(4s);
  cluster.set_faults("leaf-3", {{{"kind", "late"}, {"delay", format_duration(delay)}, {"work", {"search"}}}});

  const double fraction = animal_index().fraction_without(slow);
  const auto reply = cluster.search("otter", asking("0.5"));
  const auto answer = reply.json();
  REQUIRE(reply.status == 200);
  CHECK(answer["finished"] == "good_enough");
  CHECK(missing_of(answer) == all_for(slow, "late"));
  CHECK(answer["completeness"]["fraction"].get<double>() == doctest::Approx(fraction));
  CHECK(reply.header("Hedgerow-Completeness") == completeness_header(fraction));
  CHECK(hits_are_whole(answer));
  CHECK(answer["took_ms"].get<double>() < to_milliseconds(scaled(1s)));
  CHECK(cluster.metric("root", "hedgerow_root_queries_total{outcome=\"good_enough\"}") == 1);

  const auto denied = cluster.search("otter", asking("0.5", "deny"));
  CHECK(denied.status == 504);
  CHECK(denied.json()["type"] == "urn:hedgerow:problem:incomplete");
  for (const char* part : {"fraction", "of_asked", "partitions", "documents", "missing"}) {
    CHECK(denied.json()["completeness"][part] == answer["completeness"][part]);
  }

  // Never with less than was asked for: then the deadline ends it.
  const auto more = cluster.search("otter", asking("0.9"));
  CHECK(more.json()["finished"] == "deadline");
  CHECK(more.json()["took_ms"].get<double>() > to_milliseconds(scaled(1500ms)));
  CHECK(missing_of(more.json()) == all_for(slow, "late"));

  // Patience: with a second for each percent, what is late is waited for, to the deadline.
  auto patient = asking("0.5");
  patient.emplace_back("patience", "1s");
  MESSAGE("with much patience: ", cluster.search("otter", patient).json()["finished"].dump());
}
