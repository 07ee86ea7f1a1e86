// What slowness costs the tail of answers: next to nothing where one leaf is slow, and no extra work where all are.
// scripts/check-tail is the long version.
#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <algorithm>

#include "cluster_fixture.hpp"
#include "load_run.hpp"
#include "lab/load.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::ordered_json;

// One partition for each leaf, three copies each: what the slow leaf holds is a twentieth of the work.
ClusterOptions twenty_leaves() { return {.index = wide_index().directory, .leaves = 20, .replicas = 3, .allow_faults = true}; }

// Queries a second: little for the machine, so that what is measured is waiting, not work.
constexpr double rate = 30;

ordered_json load_report(TestCluster& cluster, Duration warm_up, Duration duration, std::uint64_t seed, const std::string& hedge = "auto") {
  lab::LoadSettings settings;
  settings.target = "http://" + cluster.root_address();
  for (std::uint64_t i = 0; i < 200; ++i) settings.queries.push_back(synthetic_query(i));
  settings.parameters = {{"deadline", "5s"}, {"hedge", hedge}, {"spelling", "off"}, {"snippets", "off"}};
  settings.rate = rate;
  settings.warm_up = warm_up;
  settings.duration = duration;
  settings.seed = seed;
  boost::asio::io_context context(1);
  lab::Load one(context, settings);
  auto result = boost::asio::co_spawn(context, one.run(), boost::asio::use_future);
  context.run();
  const auto done = result.get();
  REQUIRE(done.has_value());
  return done->report.to_json(done->frame);
}

double p99(const ordered_json& report) { return report["latency_ms"]["p99"]; }

struct Attempts {
  double primary = 0, extra = 0;
};
Attempts attempts(TestCluster& cluster) {
  const auto of = [&](const char* kind) { return cluster.metric("root", std::string("hedgerow_root_attempts_total{kind=\"") + kind + "\"}"); };
  return {of("primary"), of("hedge") + of("probe") + of("retry")};
}

const nlohmann::json late_search{{{"kind", "late"}, {"delay", "200ms"}, {"work", {"search"}}}};

}  // namespace

TEST_CASE("five seconds after one of 20 leaves became 200 ms late, p99 is near what it was, at an extra load within the budget") {
  const std::size_t seconds = count_from_environment("HEDGEROW_TAIL_SECONDS", 4);
  const std::size_t rounds = count_from_environment("HEDGEROW_TAIL_SECONDS", 0) > 0 ? 5 : 1;
  TestCluster cluster(twenty_leaves());
  load_report(cluster, 0s, 3s, 1);
  std::vector<double> healthy, sick, ratios;
  double extra = 0, primary = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    healthy.push_back(p99(load_report(cluster, 1s, std::chrono::seconds(seconds), 10 + round)));
    cluster.set_faults("leaf-7", late_search);
    const Attempts before = attempts(cluster);
    const auto report = load_report(cluster, 5s, std::chrono::seconds(seconds), 20 + round);
    const Attempts after = attempts(cluster);
    primary += after.primary - before.primary;
    extra += after.extra - before.extra;
    sick.push_back(p99(report));
    ratios.push_back(sick.back() / healthy.back());
    cluster.clear_faults("leaf-7");
    load_report(cluster, 0s, 2s, 30 + round);
  }
  MESSAGE("p99, median of ", rounds, " rounds: healthy ", median(healthy), " ms, with the leaf late ", median(sick), " ms, ratio of medians ",
          median(sick) / median(healthy), ", median ratio ", median(ratios), "; extra attempts ", 100 * extra / primary, " %");
  // 200 tokens may be saved up before.
  CHECK(extra <= 0.05 * primary + 200);
  // In small, one stall of the machine is a p99; the long version holds it to the bar.
  const double bar = rounds > 1 ? 1.5 : 2.5;
  if (!under_sanitizer) CHECK(std::min(median(ratios), median(sick) / median(healthy)) <= bar);
  CHECK(median(sick) < 200);
}

TEST_CASE("when everything is 200 ms slower at once, hedges stop within a second, and cost nothing (trap 18)") {
  const std::size_t seconds = count_from_environment("HEDGEROW_TAIL_SECONDS", 4);
  const std::size_t rounds = count_from_environment("HEDGEROW_TAIL_SECONDS", 0) > 0 ? 3 : 1;
  TestCluster cluster(twenty_leaves());
  load_report(cluster, 0s, 3s, 1);
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, late_search);
  load_report(cluster, 0s, 1s, 2);
  const Attempts before = attempts(cluster);
  std::vector<double> with, without;
  for (std::size_t round = 0; round < rounds; ++round) {
    with.push_back(p99(load_report(cluster, 0s, std::chrono::seconds(seconds), 3 + round)));
    if (round == 0) {
      const Attempts after = attempts(cluster);
      const double hedges = after.extra - before.extra, share = hedges / (after.primary - before.primary);
      const std::string obstacle = cluster.cluster()["hedging"]["obstacle"];
      MESSAGE("extra attempts after the first second: ", 100 * share, " % (", hedges, "); obstacle ", obstacle);
      CHECK(share <= 0.002);
      // For that reason, and not since there are never any.
      CHECK(obstacle == "shared_slowness");
    }
    without.push_back(p99(load_report(cluster, 0s, std::chrono::seconds(seconds), 3 + round, "off")));
  }
  MESSAGE("p99 with hedging ", median(with), " ms, without ", median(without), " ms");
  CHECK(median(with) <= 1.1 * median(without));
  CHECK(median(with) >= 200);
}
