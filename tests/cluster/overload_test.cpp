// More queries than can be answered: those that are let in are answered in time, the rest are refused at once, and when
// there are fewer again all is as before. scripts/check-overload is the long version.
//
// The leaves' capacity is made known and low: a worker is held for each partition of a search, so that the leaves, and not
// the cores of the machine, are what there is too little of.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "cluster_fixture.hpp"
#include "load_run.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

const char* const long_overload = "HEDGEROW_OVERLOAD_SECONDS";

// Four leaves of two workers, eight partitions with two replicas, 8 ms for each partition: 125 queries a second at most.
struct SlowCluster {
  explicit SlowCluster(std::vector<std::string> root_arguments = {})
      : cluster({.replicas = 2, .workers = 2, .allow_faults = true, .root_arguments = std::move(root_arguments)}) {
    for (std::size_t i = 0; i < 100; ++i) cluster.search(synthetic_query(i), {{"deadline", "10s"}});
    for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "hold"}, {"delay", "8ms"}, {"work", {"search"}}}});
  }

  static lab::LoadSettings load(double rate, Duration duration, lab::SearchParameters parameters) {
    lab::LoadSettings settings;
    for (std::size_t i = 0; i < 500; ++i) settings.queries.push_back(synthetic_query(i));
    settings.parameters = std::move(parameters);
    settings.rate = rate;
    settings.duration = duration;
    settings.connections = 1024;
    return settings;
  }
  LoadFigures run(double rate, Duration duration, lab::SearchParameters parameters) {
    auto settings = load(rate, duration, std::move(parameters));
    settings.seed = ++seed;
    return run_load(cluster.root_address(), std::move(settings));
  }

  // Answers a second with as many clients as keep every worker busy: what there is to be had at this moment.
  double capacity() {
    lab::LoadSettings settings = load(0, {}, {{"deadline", "20s"}, {"partial", "deny"}, {"hedge", "off"}});
    settings.clients = 12;
    settings.count = 400;
    const auto figures = run_load(cluster.root_address(), std::move(settings));
    return figures.complete_per_second();
  }

  TestCluster cluster;
  std::uint64_t seed = 0;
};

}  // namespace

TEST_CASE("trap 28: at three times the capacity goodput stays near it, the rest is refused at once, and afterwards all are answered") {
  const auto seconds = std::chrono::seconds(count_from_environment(long_overload, 6));
  SlowCluster slow;
  const double capacity = slow.capacity();
  MESSAGE("capacity ", capacity, " queries/s");
  REQUIRE(capacity > 20);

  // Hedging as it is by default. All or nothing: a narrower answer would not count.
  for (const std::string deadline : {"250ms", "100ms"}) {
    for (const std::string partial : {"deny", "allow"}) {
      const lab::SearchParameters parameters{{"deadline", deadline}, {"partial", partial}};
      slow.run(0.5 * capacity, 1s, parameters);
      auto overload = load_in_background(slow.cluster.root_address(), SlowCluster::load(3 * capacity, seconds, parameters));
      // What a client sees that comes meanwhile, and what the root says.
      std::size_t refused = 0, asked = 0;
      std::set<std::string> retry_after, levels;
      while (overload.wait_for(20ms) != std::future_status::ready) {
        const auto reply = slow.cluster.search(synthetic_query(++asked), parameters);
        if (reply.status == 503) {
          ++refused;
          retry_after.insert(reply.header("Retry-After"));
          CHECK(reply.json()["type"].get<std::string>().find("overloaded") != std::string::npos);
        }
        if (asked % 10 == 0) levels.insert(slow.cluster.cluster()["admission"]["level"].get<std::string>());
      }
      const auto during = overload.get();
      // Then seven tenths of the capacity, second by second, until all are answered.
      std::vector<double> shares;
      for (int second = 0; second < 6; ++second) {
        const auto after = slow.run(0.7 * capacity, 1s, parameters);
        shares.push_back(static_cast<double>(after.complete) / static_cast<double>(after.asked));
      }
      std::string seen, recovery;
      for (const auto& level : levels) seen += " " + level;
      for (const double share : shares) recovery += " " + std::to_string(share).substr(0, 5);
      MESSAGE("deadline ", deadline, ", partial=", partial, ": ", during.asked, " asked in ", during.seconds, " s, complete ",
              during.complete_per_second() / capacity, " of the capacity, work ", during.work_per_second() / capacity, " of it, refused ",
              during.refused, ", late ", during.late, ", p99 of answers ", during.p99, " ms, of refusals and errors ", during.p99_others,
              " ms; levels", seen, "; one by one ", refused, " of ", asked, " refused; then complete by the second", recovery);
      CHECK(during.failed == 0);
      CHECK(during.refused > 0);
      CHECK(refused > 0);
      CHECK_FALSE(retry_after.contains(""));
      CHECK(levels.contains("refusing"));
      if (!under_sanitizer) {
        CHECK((partial == "deny" ? during.complete_per_second() : during.work_per_second()) >= 0.7 * capacity);
        // Refused within half of the time that there was, at the latest.
        CHECK(during.p99_others <= to_milliseconds(*parse_duration(deadline)) + 20);
      }
      // Within five seconds.
      CHECK(*std::max_element(shares.begin(), shares.end() - 1) >= 0.97);
      // And for good: what else runs on the machine may spoil one second or another.
      CHECK(median({shares.begin() + 2, shares.end()}) >= (under_sanitizer ? 0.5 : 0.95));
    }
  }
}

TEST_CASE("under overload an answer says what was left out for load, and one that must be whole is whole or refused") {
  SlowCluster slow;
  const double capacity = slow.capacity();
  auto overload = load_in_background(slow.cluster.root_address(), SlowCluster::load(3 * capacity, 4s, {{"deadline", "250ms"}}));
  std::size_t narrowed = 0, spared = 0, whole = 0;
  for (std::size_t i = 0; overload.wait_for(0ms) != std::future_status::ready; ++i) {
    const bool deny = i % 3 == 0;
    const bool enough = i % 3 == 1;
    lab::SearchParameters parameters{{"deadline", "250ms"}};
    if (deny) parameters.emplace_back("partial", "deny");
    if (enough) parameters.emplace_back("min_completeness", "0.75");
    const auto reply = slow.cluster.search(synthetic_query(i), parameters);
    if (reply.status != 200) continue;
    const auto answer = reply.json();
    const auto& partitions = answer["completeness"]["partitions"];
    std::set<std::string> shed;
    for (const auto& what : answer.value("shed", nlohmann::json::array())) shed.insert(what);
    CHECK((partitions["asked"].get<int>() < 8) == shed.contains("fanout"));
    CHECK(partitions["asked"].get<int>() >= (deny ? 8 : enough ? 6 : 4));
    std::size_t not_asked = 0;
    for (const auto& [partition, reason] : missing_of(answer)) not_asked += reason == "not_asked" ? 1 : 0;
    CHECK(static_cast<int>(not_asked) == 8 - partitions["asked"].get<int>());
    if (shed.contains("fanout")) ++narrowed;
    if (shed.contains("subsystems")) {
      ++spared;
      CHECK(answer["subsystems"]["snippets"]["status"] == "skipped");
    }
    if (deny) ++whole;
  }
  overload.get();
  MESSAGE(narrowed, " narrowed, ", spared, " without subsystems, ", whole, " whole because they had to be");
  CHECK(narrowed > 0);
  CHECK(spared > 0);
  CHECK(whole > 0);
  CHECK(slow.cluster.metric("root", "hedgerow_root_queries_shed_total{what=\"fanout\"}") >= static_cast<double>(narrowed));
  // And when it is over, nothing is left out.
  CHECK(eventually(5s, [&] { return !slow.cluster.search("anything", {{"deadline", "1s"}}).json().contains("shed"); }));
}

TEST_CASE("trap 11: one leaf without replicas that hangs at low load makes queries wait for it, and none is refused") {
  TestCluster cluster({.workers = 1, .allow_faults = true});
  for (std::size_t i = 0; i < 50; ++i) cluster.search(synthetic_query(i), {{"deadline", "10s"}});
  cluster.set_faults("leaf-2", {{{"kind", "pause"}}});
  const auto figures = run_load(cluster.root_address(), SlowCluster::load(100, 5s, {{"deadline", "500ms"}}));
  MESSAGE(figures.asked, " asked, ", figures.answered, " answered, ", figures.refused, " refused; limit ",
          cluster.cluster()["admission"]["interactive"]["limit"].get<int>());
  // Fifty in flight, all of them waiting for their deadline.
  CHECK(figures.refused == 0);
  CHECK(figures.failed == 0);
}

TEST_CASE("trap 15: at 90 % utilisation hedging does not raise p99") {
  const std::size_t rounds = count_from_environment(long_overload, 0) > 0 ? 9 : 3;
  const Duration block = count_from_environment(long_overload, 0) > 0 ? 6s : 4s;
  SlowCluster slow;
  const double capacity = slow.capacity();
  std::vector<double> with, without, ratios, hedges;
  double complete_with = 0, complete_without = 0, asked = 0;
  const auto sent = [&] { return slow.cluster.metric("root", "hedgerow_root_attempts_total{kind=\"hedge\"}"); };
  for (std::size_t round = 0; round < rounds; ++round) {
    // The same arrivals with and without, in turns.
    const std::uint64_t seed = 100 + round;
    for (const bool hedged : {round % 2 == 0, round % 2 != 0}) {
      slow.seed = seed;
      const double before = sent();
      const auto figures = slow.run(0.9 * capacity, block, {{"deadline", "1s"}, {"hedge", hedged ? "auto" : "off"}, {"partial", "deny"}});
      (hedged ? with : without).push_back(figures.p99);
      (hedged ? complete_with : complete_without) += static_cast<double>(figures.complete);
      if (hedged) {
        asked += static_cast<double>(figures.asked);
        hedges.push_back(sent() - before);
      } else {
        CHECK(sent() == before);
      }
    }
    ratios.push_back(with.back() / without.back());
  }
  double hedge_sum = 0;
  for (const double count : hedges) hedge_sum += count;
  MESSAGE("capacity ", capacity, "/s; p99 with hedging ", median(with), " ms, without ", median(without), " ms, median of the rounds' ratios ",
          median(ratios), "; complete ", complete_with, " and ", complete_without, " of ", asked, "; hedges ", hedge_sum, ", ",
          100 * hedge_sum / (8 * asked), " % of attempts");
  if (!under_sanitizer) {
    CHECK(std::min(median(ratios), median(with) / median(without)) <= (rounds >= 9 ? 1.1 : 1.5));
    CHECK(complete_with >= 0.95 * complete_without);
  }
}
