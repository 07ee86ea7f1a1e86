// The closed forms of hedging: for latencies of two values by hand, for exponential ones by formula; and that intervals
// keep their promise.
#include "lab/advise/hedged_tail.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

// 99 in 100 take 5 ms, one takes 200 ms.
AttemptTail two_values() { return AttemptTail(single_samples({{5ms, 99'000}, {200ms, 1'000}}), {}); }
constexpr double sure = 0.95;

AttemptTail exponential(std::uint64_t samples, double mean_ms) {
  return AttemptTail(exact_samples(samples, [&](double share) { return from_milliseconds(-mean_ms * std::log1p(-share)); }), {});
}

}  // namespace

TEST_CASE("how late a hedged attempt is, and what that costs: two values, by hand") {
  const AttemptTail tail = two_values();
  const auto after = [&](Duration t) { return tail.after(t); };
  struct Row {
    const char* what;
    Hedges hedges;
    double late_at_10ms, extra;
  };
  const Row rows[] = {
      {"none", {}, 0.01, 0},
      {"all late ones", {{5ms}, 1, 0}, 0.0001, 0.01},
      {"half of them", {{5ms}, 0.5, 0}, 0.01 * (0.5 + 0.5 * 0.01), 0.005},
      {"a tenth is slow everywhere", {{5ms}, 1, 0.1}, 0.01 * (0.1 + 0.9 * 0.01), 0.01},
      {"all are slow everywhere", {{5ms}, 1, 1}, 0.01, 0.01},
      {"a second hedge before the first can have answered", {{5ms, 8ms}, 1, 0}, 0.0001, 0.02},
      {"a second one after it", {{5ms, 10ms}, 1, 0}, 0.0001, 0.0101},
      {"and where half is slow everywhere", {{5ms, 10ms}, 1, 0.5}, 0.01 * (0.5 + 0.5 * 0.01), 0.01 + 0.01 * (0.5 + 0.5 * 0.01)},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(late_share_after(row.hedges, 10ms, after) == doctest::Approx(row.late_at_10ms));
    CHECK(extra_attempts(row.hedges, after) == doctest::Approx(row.extra));
    CHECK(late_share_after(row.hedges, 4ms, after) == doctest::Approx(1));
  }
}

TEST_CASE("the time until no more than a share is late: two values, by hand") {
  const AttemptTail tail = two_values();
  CHECK(time_until(tail, {}, 0.02, sure).time == 5ms);
  CHECK(time_until(tail, {}, 0.001, sure).time == 200ms);
  CHECK(time_until(tail, {{5ms}, 1, 0}, 0.001, sure).time == 10ms);
  // 0.05 of the slow ones being slow everywhere leaves 0.0006 late, 0.1 leaves 0.0011.
  CHECK(time_until(tail, {{5ms}, 1, 0.05}, 0.001, sure).time == 10ms);
  CHECK(time_until(tail, {{5ms}, 1, 0.1}, 0.001, sure).time == 200ms);
}

TEST_CASE("hedging exponential latencies is the closed form") {
  // S(t) S(t - d) = p at t = (mean ln(1/p) + d) / 2.
  const AttemptTail tail = exponential(200'000, 10);
  const auto until = [&](const Hedges& hedges, double late) { return to_milliseconds(*time_until(tail, hedges, late, sure).time); };
  CHECK(until({}, 0.001) == doctest::Approx(69.08).epsilon(0.005));
  CHECK(until({{10ms}, 1, 0}, 0.001) == doctest::Approx(39.54).epsilon(0.005));
  CHECK(until({{10ms, 20ms}, 1, 0}, 0.001) == doctest::Approx((69.08 + 30) / 3).epsilon(0.005));
  // Beyond the samples without hedges (1e-6 of 200,000), known with one.
  CHECK_FALSE(time_until(tail, {}, 1e-6, sure).time);
  CHECK(until({{10ms}, 1, 0}, 1e-6) == doctest::Approx((138.16 + 10) / 2).epsilon(0.01));
}

TEST_CASE("without hedges the interval is that of order statistics") {
  // Of 1, 2, ... 100 ms the median lies between the 40th and the 61st, with 95 % (textbooks).
  std::vector<std::pair<Duration, std::uint64_t>> samples;
  for (int i = 1; i <= 100; ++i) samples.emplace_back(i * 1ms, 1);
  const TimeEstimate median = time_until(AttemptTail(single_samples(samples), {}), {}, 0.5, sure);
  CHECK(median.time == 50ms);
  CHECK(median.at_least == 40ms);
  REQUIRE(median.at_most);
  CHECK(*median.at_most == 61ms);
}

TEST_CASE("too few samples set no upper limit: 368 are the fewest that do for the latest hundredth") {
  for (const std::uint64_t count : {367u, 368u}) {
    CAPTURE(count);
    const AttemptTail tail = exponential(count, 10);
    const TimeEstimate estimate = time_until(tail, {}, 0.01, sure);
    REQUIRE(estimate.time);
    CHECK(estimate.at_most.has_value() == (count == 368));
  }
  const AttemptTail tail = exponential(1000, 10);
  const TimeEstimate estimate = time_until(tail, {}, 1e-5, sure);
  CHECK_FALSE(estimate.time);
  CHECK_FALSE(estimate.at_most);
  CHECK(estimate.at_least == tail.last());
}

TEST_CASE("intervals hold as often as they say, with hedges too") {
  const Hedges hedged{{10ms}, 1, 0};
  const Duration unhedged_truth = from_milliseconds(10 * std::log(100)), hedged_truth = from_milliseconds((10 * std::log(1000) + 10) / 2);
  Random random(11);
  int unhedged_held = 0, hedged_held = 0, limited = 0;
  const int trials = 200;
  for (int i = 0; i < trials; ++i) {
    const AttemptTail tail(drawn_exponential(600, 10, random), {});
    const auto holds = [](const TimeEstimate& estimate, Duration truth) {
      return estimate.at_least <= truth && (!estimate.at_most || truth <= *estimate.at_most);
    };
    unhedged_held += holds(time_until(tail, {}, 0.01, sure), unhedged_truth);
    const TimeEstimate estimate = time_until(tail, hedged, 0.001, sure);
    hedged_held += holds(estimate, hedged_truth);
    limited += estimate.at_most.has_value();
  }
  // 95 % of 200 is 190, with a standard deviation of 3.
  CHECK(unhedged_held >= 181);
  CHECK(hedged_held >= 181);
  // And they say something.
  CHECK(limited == trials);
}

TEST_CASE("what hedges cost lies between its limits") {
  const AttemptTail tail(single_samples({{1ms, 980}, {2ms, 20}}), {});
  const ShareEstimate extra = extra_attempts_of(tail, {{1ms}, 1, 0}, sure);
  CHECK(extra.share == doctest::Approx(0.02));
  // Clopper and Pearson for 20 of 1,000.
  CHECK(extra.least == doctest::Approx(0.01226).epsilon(0.005));
  CHECK(extra.most == doctest::Approx(0.03072).epsilon(0.005));
}

TEST_CASE("a completeness is a number of partitions, and a share that may be late") {
  struct Row {
    double completeness;
    std::size_t width, needed;
  };
  for (const Row& row : {Row{1, 100, 100}, Row{0.999, 100, 100}, Row{0.99, 100, 99}, Row{0.95, 20, 19}, Row{0.951, 20, 20}, Row{0.001, 10, 1}, Row{0.5, 1, 1}}) {
    CAPTURE(row.completeness);
    CAPTURE(row.width);
    CHECK(needed_partitions(row.completeness, row.width) == row.needed);
  }
  CHECK(late_share_for(0.999, 100, 100) == doctest::Approx(1.0005e-5).epsilon(1e-4));
  CHECK(late_share_for(0.5, 2, 3) == doctest::Approx(0.5));
  // One of a hundred may be missing: 46 times as many attempts may be late.
  CHECK(late_share_for(0.999, 99, 100) == doctest::Approx(4.562e-4).epsilon(1e-3));
}

}  // namespace hedgerow::lab
