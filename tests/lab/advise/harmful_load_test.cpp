// The load from which hedging harms, for exponential work at one worker, where it has a closed form (independent waits) or
// an integral (waits alike).
#include "lab/advise/harmful_load.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

constexpr double work_ms = 10, may_be_late = 0.001, may_be_spent = 0.05;

LoadModel idle_exponential() {
  return LoadModel(AttemptTail(exact_samples(200'000, [](double share) { return from_milliseconds(-work_ms * std::log1p(-share)); }), {}), 0, 1);
}

HedgingWish wish() { return {1, 1, may_be_late, may_be_spent, Duration{}, 0}; }

// The time at which a share `may_be_late` of min(X, d + Y) + wait is left, X and Y exponential work, the wait 0 with 1 - rho and
// else exponential: by small steps.
double target_alike(double rho, double delay_ms) {
  const double wait_ms = work_ms / (1 - rho), step = 0.02;
  double waiting = 0, left = 1, t = 0;
  while (true) {
    t += step;
    const double next = std::exp(-t / work_ms) * (t > delay_ms ? std::exp(-(t - delay_ms) / work_ms) : 1);
    waiting = waiting * std::exp(-step / wait_ms) + (left - next) * std::exp(-step / 2 / wait_ms);
    left = next;
    if (left + rho * waiting <= may_be_late) return t;
  }
}

}  // namespace

// At rho, latencies are exponential with m = work / (1 - rho). The budget is spent by hedging all after d = m ln(1 / budget), and
// then S(t) S(t - d) = late at t = m (ln(1 / late) + ln(1 / budget)) / 2 = 4.952 m, and without hedges at 6.908 m. With
// hedges m is that of 1.05 rho: they are even at 4.952 (1 - rho) = 6.908 (1 - 1.05 rho), rho = 0.850.
TEST_CASE("where waits are independent, hedging exponential work harms from the load of the closed form on") {
  const LoadModel model = idle_exponential();
  const LoadPoint at_half = hedged_at(model, wish(), 0.5);
  CHECK(to_milliseconds(at_half.without) == doctest::Approx(6.908 * 20).epsilon(0.01));
  CHECK(to_milliseconds(at_half.with) == doctest::Approx(4.952 * 10 / (1 - 0.525)).epsilon(0.02));
  CHECK(at_half.hedged_load == doctest::Approx(0.525).epsilon(0.002));

  const HarmfulLoad harmful = find_harmful_load(model, wish());
  CHECK(harmful.independent == doctest::Approx(0.850).epsilon(0.015));
  CHECK(harmful.full == doctest::Approx(0.99 / 1.05));
  CHECK(harmful.quantile == doctest::Approx(0.999));
}

TEST_CASE("where replicas wait alike, hedging harms much sooner: by numerical integration") {
  const auto gain = [](double rho) {
    const double hedged = rho * (1 + may_be_spent);
    return target_alike(hedged, work_ms / (1 - hedged) * std::log(1 / may_be_spent)) / target_alike(rho, 1e9);
  };
  // 0.984 at a quarter, 1.001 at 0.3.
  double good = 0.2, bad = 0.4;
  for (int i = 0; i < 12; ++i) {
    const double middle = (good + bad) / 2;
    (gain(middle) < 1 ? good : bad) = middle;
  }
  CHECK(bad == doctest::Approx(0.297).epsilon(0.02));

  const LoadModel model = idle_exponential();
  const LoadPoint at_half = hedged_at(model, wish(), 0.5);
  CHECK(to_milliseconds(at_half.without_alike) == doctest::Approx(target_alike(0.5, 1e9)).epsilon(0.01));
  CHECK(at_half.with_alike > at_half.without_alike);
  const HarmfulLoad harmful = find_harmful_load(model, wish());
  CHECK(harmful.alike == doctest::Approx(bad).epsilon(0.07));
  CHECK(harmful.alike < harmful.independent);
}

TEST_CASE("points begin at the measured load and rise, and what cannot keep up is later than anything") {
  const LoadModel model(AttemptTail(exact_samples(50'000, [](double share) { return from_milliseconds(-20 * std::log1p(-share)); }), {}), 0.5, 1);
  const HarmfulLoad harmful = find_harmful_load(model, wish());
  REQUIRE(harmful.points.size() > 10);
  CHECK(harmful.points.front().load == 0.5);
  for (std::size_t i = 1; i < harmful.points.size(); ++i) {
    CHECK(harmful.points[i].load > harmful.points[i - 1].load);
    CHECK(harmful.points[i].without >= harmful.points[i - 1].without);
  }
  CHECK(harmful.points.back().with == Duration::max());
  // The same queue, told of by other samples: the same answer.
  CHECK(harmful.independent == doctest::Approx(0.850).epsilon(0.03));
}

TEST_CASE("already harmful where it was measured: that load is the answer") {
  const LoadModel model(AttemptTail(exact_samples(50'000, [](double share) { return from_milliseconds(-100 * std::log1p(-share)); }), {}), 0.9, 1);
  const HarmfulLoad harmful = find_harmful_load(model, wish());
  CHECK(harmful.independent == 0.9);
}

// Hedges at a fixed delay of 20 ms are a share e = exp(-d / m) of the attempts, at the mean latency m = work / (1 - rho (1 + e))
// that they bring about. The target is then m ln(1 / late) / 2 + d / 2.
TEST_CASE("delays that stay as they are: what hedges cost settles, or does not") {
  constexpr double delay_ms = 20;
  const auto settled = [](double rho) {
    double extra = 0;
    for (int i = 0; i < 1000 && rho * (1 + extra) < 0.99; ++i) extra = std::exp(-delay_ms * (1 - rho * (1 + extra)) / work_ms);
    return extra;
  };
  const auto first_that = [](const auto& holds) {
    double good = 0, bad = 0.99;
    for (int i = 0; i < 30; ++i) {
      const double middle = (good + bad) / 2;
      (holds(middle) ? bad : good) = middle;
    }
    return bad;
  };
  const double full = first_that([&](double rho) { return rho * (1 + settled(rho)) >= 0.99; });
  const double harmful_from = first_that([&](double rho) {
    const double hedged = rho * (1 + settled(rho));
    if (hedged >= 0.99) return true;
    const double nines = std::log(1 / may_be_late);
    return work_ms / (1 - hedged) * nines / 2 + delay_ms / 2 > work_ms / (1 - rho) * nines;
  });

  HedgingWish given = wish();
  given.delays = {from_milliseconds(delay_ms)};
  const LoadPoint at_30 = hedged_at(idle_exponential(), given, 0.3);
  const double hedged = 0.3 * (1 + settled(0.3));
  CHECK(at_30.hedged_load == doctest::Approx(hedged).epsilon(0.01));
  CHECK(to_milliseconds(at_30.with) == doctest::Approx(6.908 * 10 / (1 - hedged) / 2 + delay_ms / 2).epsilon(0.02));
  const HarmfulLoad harmful = find_harmful_load(idle_exponential(), given);
  CHECK(harmful.independent == doctest::Approx(harmful_from).epsilon(0.02));
  CHECK(harmful.full == doctest::Approx(full).epsilon(0.02));
  CHECK(harmful.points.back().hedged_load == 1);
}

TEST_CASE("a target beyond the samples is compared where they still tell") {
  const LoadModel model(AttemptTail(exact_samples(1'000, [](double share) { return from_milliseconds(-10 * std::log1p(-share)); }), {}), 0, 1);
  const HarmfulLoad harmful = find_harmful_load(model, {10, 1, 1e-5, may_be_spent, Duration{}, 0});
  // Ten samples beyond: 1 %, of ten partitions.
  CHECK(harmful.quantile == doctest::Approx(std::pow(0.99, 10)));
}

}  // namespace hedgerow::lab
