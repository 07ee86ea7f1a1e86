// What samples tell of the tail: worked out by hand, against the root's own estimate, and against the order statistics of
// textbooks.
#include "lab/advise/attempt_tail.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

TEST_CASE("of plain samples the tail is the share that took longer, and never less than one of them") {
  const AttemptTail tail(single_samples({{1ms, 1}, {2ms, 1}, {3ms, 1}, {4ms, 1}}), {});
  CHECK(tail.samples() == 4);
  CHECK(tail.after(-1ns) == 1);
  CHECK(tail.after(999us) == 1);
  CHECK(tail.after(1ms) == 0.75);
  CHECK(tail.after(3500us) == 0.25);
  CHECK(tail.after(1h) == 0.25);
  CHECK(tail.earliest(0.5) == 2ms);
  CHECK(tail.earliest(0.25) == 3ms);
  CHECK_FALSE(tail.earliest(0.24));
}

TEST_CASE("what was given up would have taken longer: Kaplan and Meier, by hand") {
  // 500: after 1 ms 400 are left, after 2 ms three quarters of them; 200 of those are given up before 4 ms, and what is left
  // then ends.
  const LatencyCounts answered = single_samples({{1ms, 100}, {2ms, 100}, {4ms, 50}, {5ms, 50}});
  const LatencyCounts given_up = single_samples({{2500us, 100}, {3ms, 100}});
  const AttemptTail tail(answered, given_up);
  CHECK(tail.after(1ms) == doctest::Approx(0.8));
  CHECK(tail.after(2ms) == doctest::Approx(0.6));
  CHECK(tail.after(3ms) == doctest::Approx(0.6));
  CHECK(tail.after(4ms) == doctest::Approx(0.3));
  // Without them it would look shorter.
  CHECK(AttemptTail(answered, {}).after(2ms) == doctest::Approx(1.0 / 3));
}

TEST_CASE("where nearly all that would have lasted long was given up, the few survivors tell nothing of the rest") {
  const AttemptTail tail(single_samples({{1ms, 100}, {2ms, 100}, {50ms, 3}}), single_samples({{3ms, 297}}));
  CHECK(tail.last() == 2ms);
  CHECK(tail.after(1s) == doctest::Approx(0.6));
  CHECK_FALSE(tail.earliest(0.5));
  CHECK(tail.limits(1s, 0.025).least == 0);
  CHECK(tail.limits(1s, 0.025).most > 0.6);
}

TEST_CASE("the tail is the root's own, on the same latencies") {
  Random random(7);
  Histogram answered(60'000'000, 14), given_up(60'000'000, 14);
  std::vector<LatencyCounts::Bucket> answers, gone;
  for (int i = 0; i < 20'000; ++i) {
    const auto microseconds = 1 + static_cast<std::uint64_t>(random.exponential(2000));
    const Duration time = std::chrono::microseconds(microseconds);
    const bool lost = random.chance(0.1);
    (lost ? given_up : answered).record(microseconds);
    (lost ? gone : answers).push_back({time, time, 1});
  }
  const AttemptTail tail{LatencyCounts(answers), LatencyCounts(gone)};
  const policy::LatencyCurve root = policy::kaplan_meier(answered, given_up, 30);
  for (const Duration t : {Duration(100us), Duration(1ms), Duration(2ms), Duration(5ms), Duration(9ms)}) {
    CAPTURE(t.count());
    CHECK(tail.after(t) == doctest::Approx(root.unanswered_after(t)).epsilon(0.003));
  }
  CHECK(tail.curve().answered == answers.size());
  CHECK(tail.curve().given_up == gone.size());
}

TEST_CASE("without losses a tail is as certain as its samples are many, with losses less so") {
  // 10 of 1,000 took longer: Clopper and Pearson's limits.
  const AttemptTail tail(single_samples({{1ms, 990}, {2ms, 10}}), {});
  const auto limits = tail.limits(1ms, 0.025);
  CHECK(limits.least == doctest::Approx(0.0048055).epsilon(1e-4));
  CHECK(limits.most == doctest::Approx(0.0183132).epsilon(1e-4));
  CHECK(tail.limits(-1ns, 0.025).least == 1);

  // Half was given up on the way: Greenwood's variance at 2 ms is 0.25 (100 / (200 * 100)) = 1 / 800, so n' = 200.
  const AttemptTail lossy(single_samples({{2ms, 100}, {3ms, 100}}), single_samples({{1ms, 200}}));
  CHECK(lossy.after(2ms) == doctest::Approx(0.5));
  const auto of_200 = AttemptTail(single_samples({{2ms, 100}, {3ms, 100}}), {}).limits(2ms, 0.025);
  CHECK(lossy.limits(2ms, 0.025).least == doctest::Approx(of_200.least).epsilon(1e-6));
  CHECK(lossy.limits(2ms, 0.025).most == doctest::Approx(of_200.most).epsilon(1e-6));
}

TEST_CASE("limits enclose the estimate everywhere, and narrow as samples multiply") {
  Random random(3);
  const AttemptTail few(drawn_exponential(200, 10, random), {}), many(drawn_exponential(20'000, 10, random), {});
  for (Duration t = 0ms; t < 60ms; t += 500us) {
    CAPTURE(t.count());
    for (const AttemptTail* tail : {&few, &many}) {
      const auto limits = tail->limits(t, 0.01);
      CHECK(limits.least <= tail->after(t));
      CHECK(limits.most >= tail->after(t));
    }
    if (t >= 5ms && t <= 25ms) CHECK(many.limits(t, 0.01).most - many.limits(t, 0.01).least < few.limits(t, 0.01).most - few.limits(t, 0.01).least);
  }
}

TEST_CASE("a bucket's latencies are spread over it") {
  const AttemptTail tail(LatencyCounts({{1ms, 2ms, 1'000}}), {});
  CHECK(tail.after(999us) == 1);
  CHECK(tail.after(1250us) == doctest::Approx(0.75).epsilon(0.02));
  CHECK(tail.after(1500us) == doctest::Approx(0.5).epsilon(0.02));
  CHECK(tail.last() == 2ms);
}

TEST_CASE("a whole query tells of all its attempts") {
  // A quarter of the queries over two partitions were in time, so half of the attempts were.
  const AttemptTail tail(single_samples({{1ms, 25'000}, {2ms, 75'000}}), {}, 2);
  CHECK(tail.after(1ms) == doctest::Approx(0.5));
  // One query in 100,000 is one attempt in 200,000.
  CHECK(tail.smallest() == doctest::Approx(5e-6));
  CHECK(tail.curve().answered == 200'000);
  const auto limits = tail.limits(1ms, 0.025);
  CHECK(limits.least < 0.5);
  CHECK(limits.most > 0.5);
  CHECK(limits.most - limits.least < 0.01);
}

TEST_CASE("halves share the samples out by chance, each to one of them") {
  std::vector<std::pair<Duration, std::uint64_t>> samples;
  for (int i = 1; i <= 1000; ++i) samples.emplace_back(i * 1ms, 100);
  const auto halves = AttemptTail::halves(single_samples(samples), single_samples({{5ms, 1000}}), 1, 1);
  CHECK(halves.one.answered() + halves.other.answered() == 100'000);
  CHECK(halves.one.samples() + halves.other.samples() == 101'000);
  // Five standard deviations of a coin: 5 sqrt(100,000) / 2 = 790.
  CHECK(std::abs(static_cast<double>(halves.one.answered()) - 50'000) < 790);
  // By chance, and not alternately: then they would differ by less than a thousandth.
  double furthest = 0;
  for (const auto& [time, count] : samples) furthest = std::max(furthest, std::abs(halves.one.after(time) - halves.other.after(time)));
  CHECK(furthest > 0.0012);
  CHECK(furthest < 0.02);
}

}  // namespace hedgerow::lab
