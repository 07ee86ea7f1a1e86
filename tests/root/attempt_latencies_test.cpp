// Latencies of leaves and of the cluster: against the closed form that the samples were drawn from, and by hand.
#include "root/policy/cluster/attempt_latencies.hpp"

#include <doctest/doctest.h>

#include "policy_fixture.hpp"
#include "reference_latencies.hpp"

namespace hedgerow::policy {

namespace {

// Twenty leaves that answer as the paper's do, in turn, a thousand attempts a second; one of them may be sick.
struct TimedCluster {
  AttemptLatencies latencies;
  Random random{11};
  Instant now = at(0s);
  std::uint32_t leaves = 20;
  std::uint32_t sick_leaf = 99;

  Duration draw(std::uint32_t number) {
    const Duration latency = from_milliseconds(reference::sample(1 - random.uniform()));
    return number == sick_leaf ? latency + 200ms : latency;
  }
  void run(Duration time) {
    for (const Instant end = now + time; now < end; now += 1ms) {
      const auto number = static_cast<std::uint32_t>(random.below(leaves));
      latencies.on_answered(leaf(number), draw(number), now);
    }
  }
};

}  // namespace

TEST_CASE("the cluster's curve tells times near 10 ms apart to a hundredth of a millisecond") {
  AttemptLatencies latencies;
  // One each 10 us from 5 to 15 ms.
  for (int i = 0; i < 1000; ++i) latencies.on_answered(leaf(0), 5ms + 10us * i, at(1us * i));
  const LatencyCurve& curve = latencies.all(at(1s));
  for (const Duration time : {Duration(9ms), Duration(10ms), Duration(10010us), Duration(10050us), Duration(12ms)}) {
    const double left = 1 - (to_milliseconds(time) - 4.99) / 10;
    CAPTURE(format_duration(time));
    CHECK(curve.unanswered_after(time) >= left - 1e-9);  // never too small
    CHECK(curve.unanswered_after(time) <= left + 0.0011);
  }
}

TEST_CASE("the latency of a superseded loser counts too, or the slow would look fast (trap 22)") {
  // Every attempt is hedged at 10 ms, and given up when its hedge answers.
  AttemptLatencies latencies;
  LatencyModel without_losers;
  Random random(5);
  Instant now = at(0s);
  for (int i = 0; i < 200'000; ++i, now += 20us) {
    const double first = reference::sample(1 - random.uniform()), hedge = 10 + reference::sample(1 - random.uniform());
    const LeafId asked = leaf(static_cast<std::uint32_t>(i % 20));
    if (first <= hedge) {
      latencies.on_answered(asked, from_milliseconds(first), now);
      without_losers.record(from_milliseconds(first), now);
    } else {
      latencies.on_given_up(asked, from_milliseconds(hedge), now);
    }
  }
  const LatencyCurve& curve = latencies.all(now);
  for (const double time : {10.5, 13.0, 16.0, 19.0}) {
    CAPTURE(time);
    const double left = reference::after(time);
    // Some 2,000 samples are left at 19 ms: 3 % is more than a standard deviation, 8 % is more than three.
    CHECK(curve.unanswered_after(from_milliseconds(time)) == doctest::Approx(left).epsilon(0.08));
    CHECK(without_losers.curve(now).unanswered_after(from_milliseconds(time)) < 0.85 * left);
  }
}

TEST_CASE("of what hedges overtook it is known that it was late, not that it ended with the last survivor") {
  AttemptLatencies latencies;
  for (int i = 0; i < 9800; ++i) latencies.on_answered(leaf(0), 5ms, at(1us * i));
  // Two in a hundred last longer than 10 ms, all but three of them are given up at 15.
  for (int i = 0; i < 197; ++i) latencies.on_given_up(leaf(0), 15ms, at(10ms));
  for (const Duration late : {16ms, 17ms, 18ms}) latencies.on_answered(leaf(0), late, at(10ms));
  const LatencyCurve& curve = latencies.all(at(1s));
  CHECK(curve.unanswered_after(20ms) == doctest::Approx(0.02));
  CHECK(to_milliseconds(*curve.quantile(0.97)) == doctest::Approx(5).epsilon(0.001));
  CHECK(curve.quantile(0.99) == LatencyModel::longer_than_known);
}

TEST_CASE("one sick leaf does not change what is usual of a healthy one (trap 16)") {
  TimedCluster cluster;
  cluster.run(20s);
  const Duration healthy_before = *cluster.latencies.healthy(cluster.now).quantile(0.95);
  CHECK_FALSE(cluster.latencies.is_sick(leaf(7)));

  cluster.sick_leaf = 7;
  cluster.run(3s);
  CHECK(cluster.latencies.is_sick(leaf(7)));
  cluster.run(27s);
  for (std::uint32_t i = 0; i < cluster.leaves; ++i) CHECK(cluster.latencies.is_sick(leaf(i)) == (i == 7));
  CHECK(to_milliseconds(*cluster.latencies.median_of(leaf(7))) == doctest::Approx(206.6).epsilon(0.15));
  CHECK(to_milliseconds(*cluster.latencies.median_of(leaf(8))) == doctest::Approx(6.6).epsilon(0.15));
  const Duration healthy = *cluster.latencies.healthy(cluster.now).quantile(0.95);
  CHECK(to_milliseconds(healthy) == doctest::Approx(to_milliseconds(healthy_before)).epsilon(0.02));
  // Of all attempts 5 % and those 2 % of the others that are late anyway.
  CHECK(cluster.latencies.all(cluster.now).unanswered_after(12ms) == doctest::Approx(0.05 + 0.95 * reference::after(12)).epsilon(0.15));

  cluster.sick_leaf = 99;
  cluster.run(4s);
  CHECK_FALSE(cluster.latencies.is_sick(leaf(7)));
}

TEST_CASE("a leaf whose attempts are all overtaken by hedges is sick too, though none of its latencies is known (trap 16)") {
  TimedCluster cluster;
  for (int i = 0; i < 4000; ++i, cluster.now += 1ms) {
    const auto number = static_cast<std::uint32_t>(i % 20);
    const Duration overtaken = 10ms + cluster.draw(0);
    if (number == 7) {
      cluster.latencies.on_given_up(leaf(7), overtaken, cluster.now);
    } else {
      cluster.latencies.on_answered(leaf(number), cluster.draw(number), cluster.now);
    }
  }
  CHECK(cluster.latencies.is_sick(leaf(7)));
  CHECK(*cluster.latencies.median_of(leaf(7)) > 12ms);
  CHECK_FALSE(cluster.latencies.is_sick(leaf(8)));
}

TEST_CASE("a leaf whose attempts are often given up soon, by a twin that began first, is not sick") {
  TimedCluster cluster;
  for (int i = 0; i < 4000; ++i, cluster.now += 1ms) {
    const auto number = static_cast<std::uint32_t>(i % 20);
    if (number == 7 && i % 5 != 2) {
      cluster.latencies.on_given_up(leaf(7), 2ms, cluster.now);
    } else {
      cluster.latencies.on_answered(leaf(number), cluster.draw(number), cluster.now);
    }
  }
  CHECK_FALSE(cluster.latencies.is_sick(leaf(7)));
}

TEST_CASE("slow leaves are sick only as long as they are a minority") {
  struct Row {
    std::uint32_t leaves, slow;
    bool sick;
  };
  for (const Row& row : {Row{20, 9, true}, Row{20, 10, false}, Row{20, 20, false}, Row{3, 1, true}, Row{2, 1, false}, Row{1, 1, false}}) {
    CAPTURE(row.leaves);
    CAPTURE(row.slow);
    AttemptLatencies latencies;
    for (int i = 0; i < 200; ++i) {
      for (std::uint32_t n = 0; n < row.leaves; ++n) latencies.on_answered(leaf(n), n < row.slow ? 60ms : 6ms, at(10ms * i));
    }
    CHECK(latencies.is_sick(leaf(0)) == row.sick);
    CHECK_FALSE(latencies.is_sick(leaf(row.leaves)));
    CHECK(latencies.healthy(at(2s)).unanswered_after(30ms) < (row.sick ? 0.1 : 1.1));
  }
}

TEST_CASE("a leaf a little slower than others, or slow by less than matters, is not sick") {
  AttemptLatencies latencies;
  for (int i = 0; i < 200; ++i) {
    for (std::uint32_t n = 0; n < 5; ++n) {
      latencies.on_answered(leaf(n), n == 0 ? 2ms : 200us, at(10ms * i));       // ten times, but by 1.8 ms
      latencies.on_answered(leaf(10 + n), n == 0 ? 15ms : 8ms, at(10ms * i));
    }
  }
  CHECK_FALSE(latencies.is_sick(leaf(0)));
  CHECK_FALSE(latencies.is_sick(leaf(10)));
}

TEST_CASE("a window lasts ten seconds and a thousand samples, but never longer than ten minutes") {
  AttemptLatencies busy;
  for (int i = 0; i < 40'000; ++i) busy.on_answered(leaf(0), 1ms, at(1ms * i));
  CHECK(busy.samples(at(40s)) >= 10'000);
  CHECK(busy.samples(at(40s)) <= 20'001);

  AttemptLatencies idle;  // one in a second
  for (int i = 0; i < 500; ++i) idle.on_answered(leaf(0), 1ms, at(1s * i));
  CHECK(idle.samples(at(500s)) == 500);
  for (int i = 500; i < 5000; ++i) idle.on_answered(leaf(0), 1ms, at(1s * i));
  CHECK(idle.samples(at(5000s)) >= 600);
  CHECK(idle.samples(at(5000s)) <= 1201);
  CHECK(idle.samples(at(7h)) == 0);
  CHECK(idle.all(at(7h)).answered == 0);
}

TEST_CASE("curves are kept for a quarter of a second or until there is a quarter more to go by") {
  AttemptLatencies latencies;
  for (int i = 0; i < 400; ++i) latencies.on_answered(leaf(0), 1ms, at(0s));
  const auto first = latencies.version(at(0s));
  CHECK(latencies.all(at(0s)).answered == 400);
  for (int i = 0; i < 99; ++i) latencies.on_answered(leaf(0), 1ms, at(1ms));
  CHECK(latencies.version(at(100ms)) == first);
  CHECK(latencies.all(at(100ms)).answered == 400);
  for (int i = 0; i < 40; ++i) latencies.on_answered(leaf(0), 1ms, at(2ms));
  CHECK(latencies.all(at(100ms)).answered == 539);
  latencies.on_answered(leaf(0), 1ms, at(101ms));
  CHECK(latencies.all(at(349ms)).answered == 539);
  CHECK(latencies.all(at(351ms)).answered == 540);
  const auto last = latencies.version(at(351ms));
  CHECK(latencies.version(at(5s)) == last);  // nothing is new
}

TEST_CASE("what is forgotten of the cluster is still known of its leaves") {
  TimedCluster cluster;
  cluster.sick_leaf = 3;
  cluster.run(10s);
  cluster.latencies.forget();
  CHECK(cluster.latencies.samples(cluster.now) == 0);
  CHECK(cluster.latencies.all(cluster.now).steps.empty());
  CHECK(cluster.latencies.is_sick(leaf(3)));
  cluster.run(1s);
  CHECK(cluster.latencies.healthy(cluster.now).unanswered_after(150ms) < 0.01);
}

TEST_CASE("a leaf's recent median, by hand") {
  RecentMedian median;
  CHECK_FALSE(median.verdict().has_value());
  for (int i = 0; i < 3; ++i) median.record(10ms, at(0s));
  CHECK_FALSE(median.verdict().has_value());  // three say too little
  median.record(10ms, at(0s));
  const auto about = [&](double milliseconds) {
    return to_milliseconds(median.verdict()->median) == doctest::Approx(milliseconds).epsilon(0.12);
  };
  CHECK(about(10));
  for (int i = 0; i < 6; ++i) median.record(100ms, at(1ms));
  CHECK(about(100));
  // Old ones fade: three half lives later thirty new ones outweigh what was.
  for (int i = 0; i < 30; ++i) median.record(1ms, at(3s));
  CHECK(about(1));
  CHECK_FALSE(median.verdict()->at_least);
  // A minute of silence: nothing is known.
  median.record(5ms, at(64s));
  CHECK_FALSE(median.verdict().has_value());
  // Of six four were given up after 50 ms, so half never answered in the time that is known of.
  median = {};
  for (int i = 0; i < 2; ++i) median.record(1ms, at(0s));
  for (int i = 0; i < 4; ++i) median.record_at_least(50ms, at(0s));
  CHECK(median.verdict()->at_least);
  CHECK(about(50));
  // Two more that took 80 ms: after them half of those that lasted beyond 50 ms, and all that did not, are answered.
  for (int i = 0; i < 2; ++i) median.record(80ms, at(0s));
  CHECK_FALSE(median.verdict()->at_least);
  CHECK(about(80));
  // There may be thousands of leaves.
  CHECK(sizeof(RecentMedian) <= 384);
}

}  // namespace hedgerow::policy
