#include "lab/experiments/tied.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

using namespace hedgerow;
using namespace hedgerow::lab;

namespace {

bool within(double value, double expected, double tolerance) { return std::abs(value / expected - 1) <= tolerance; }

}  // namespace

TEST_CASE("tied reads have the latencies of the paper's Table 2 or less, at under 1 % of extra work") {
  const TiedExperiment found = run_tied_experiment({.reads = 100'000});
  const LatencyRow idle{19, 38, 67, 98}, idle_tied{16, 29, 42, 61};
  const LatencyRow busy{24, 56, 108, 159}, busy_tied{19, 38, 67, 108};
  for (std::size_t i = 0; i < idle.size(); ++i) {
    CAPTURE(table_shares[i]);
    CHECK(within(found.idle.latency_ms[i], idle[i], 0.1));
    CHECK(within(found.busy.latency_ms[i], busy[i], 0.1));
    CHECK(found.idle_tied.latency_ms[i] <= 1.1 * idle_tied[i]);
    CHECK(found.busy_tied.latency_ms[i] <= 1.1 * busy_tied[i]);
    // What was simulated is what was fitted: the closed form, and no more load than it says.
    CHECK(within(found.idle.latency_ms[i], found.fit.idle_ms[i], table_shares[i] > 0.99 ? 0.06 : 0.02));
    CHECK(within(found.busy.latency_ms[i], found.fit.busy_ms[i], table_shares[i] > 0.99 ? 0.06 : 0.02));
  }
  CHECK(within(found.idle.utilisation, found.fit.model.idle_utilisation, 0.01));
  CHECK(within(found.busy.utilisation, found.fit.model.busy_utilisation, 0.01));
  for (const TiedRun* run : {&found.idle_tied, &found.busy_tied}) {
    CHECK(run->both_began > 0);
    CHECK(run->extra_work > 0);
    CHECK(run->extra_work < 0.01);
    CHECK(run->violated == 0);
  }
  CHECK(found.idle.extra_work == 0);
  CHECK(found.busy.extra_work == 0);
  for (const auto& disagreement : disagreements(found.findings())) FAIL_CHECK(disagreement);
  CHECK(found.to_json()["idle_tied"]["p999_ms"] == found.idle_tied.latency_ms[3]);
}

TEST_CASE("an experiment that misses one figure of the paper disagrees with it") {
  TiedExperiment found;
  found.idle.latency_ms = {19, 38, 67, 98};
  found.idle_tied.latency_ms = {16, 29, 42, 61};
  found.busy.latency_ms = {24, 56, 108, 159};
  found.busy_tied.latency_ms = {19, 38, 67, 50};  // less is no fault
  REQUIRE(disagreements(found.findings()).empty());

  TiedExperiment wrong = found;
  SUBCASE("untied too low") { wrong.idle.latency_ms[3] = 88; }
  SUBCASE("untied too high") { wrong.busy.latency_ms[0] = 26.5; }
  SUBCASE("tied too high") { wrong.busy_tied.latency_ms[3] = 119; }
  SUBCASE("too much work for nothing") { wrong.idle_tied.extra_work = 0.0101; }
  SUBCASE("an invariant broken") { wrong.busy.violated = 1; }
  CHECK(disagreements(wrong.findings()).size() == 1);
}
