#include "lab/experiments/hedged.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace hedgerow::lab {

namespace {

// The model, written down again from the words: milliseconds, and the share that is longer.
double longer(double ms) {
  if (ms < 3) return 1;
  if (ms < 10) return 1 - 0.98 * (ms - 3) / 7;
  const auto pareto = [&](double from, double share_from, double to, double share_to) {
    const double exponent = std::log(share_from / share_to) / std::log(to / from);
    return share_from * std::pow(ms / from, -exponent);
  };
  if (ms < 70) return pareto(10, 0.02, 70, 0.0032);
  return ms < 4000 ? pareto(70, 0.0032, 1800, 1e-5) : 0;
}

// The p99.9 of 100 partitions, hedged at these delays (beyond 5 s: not at all), by trying every 0.05 ms.
double p999(double first, double second) {
  const double late = 1 - std::pow(0.999, 0.01);
  for (double t = 3; t < 5000; t += 0.05) {
    if (longer(t) * longer(t - first) * longer(t - second) <= late) return t;
  }
  return 5000;
}
constexpr double never = 10'000;

}  // namespace

// A direct calculation for the issue gave 1797, 72.2 and 29.2 ms; the formula gives 1799.5, 74.2 and 28.7 (and the paper
// measured 74).
TEST_CASE("the closed form of the hedged experiment is that of the paper's figures") {
  CHECK(p999(never, never) == doctest::Approx(1797).epsilon(0.002));
  CHECK(p999(10, never) == doctest::Approx(72.2).epsilon(0.04));
  // Ours: the best two delays that cost at most 2.1 % together.
  double best = 5000;
  for (double first = 9.9; first < 20; first += 0.05) {
    for (double second = first; second < 40; second += 0.1) {
      if (longer(first) + longer(second) * longer(second - first) <= 0.021) best = std::min(best, p999(first, second));
    }
  }
  CHECK(best < 29.3);

  const auto latency = hedged_experiment_latency();
  const auto ms = [&](const std::vector<Duration>& delays) { return to_milliseconds(hedged_quantile(latency, delays, 100, 0.999)); };
  CHECK(ms({}) == doctest::Approx(p999(never, never)).epsilon(0.002));
  CHECK(ms({std::chrono::milliseconds(10)}) == doctest::Approx(p999(10, never)).epsilon(0.002));
  CHECK(hedged_extra(latency, {std::chrono::milliseconds(10)}) == doctest::Approx(0.02));
  CHECK(ms(best_delays(latency, 0.021, 100, 0.999)) == doctest::Approx(best).epsilon(0.01));
}

// The paper's hedging result, and better: 400,000 queries of 100 partitions in each of three modes, seed 1.
TEST_CASE("hedging as the paper did it, and ours, keep to the closed form within 10 %") {
  const HedgedExperiment experiment = run_hedged_experiment({.seed = 1});
  for (const auto& disagreement : disagreements(experiment.findings())) FAIL_CHECK(disagreement);

  // The tolerance, stated: the estimate of p99.9 rests on 400 queries beyond it. Without hedges its standard deviation is
  // 1 / (1.78 sqrt(400)) = 2.8 %, 1.78 being the tail's exponent there; with hedges the tail is steeper.
  const auto json = experiment.to_json();
  const auto value = [&](const char* mode, const char* name) { return json.at(mode).at(name).get<double>(); };
  CHECK(value("none", "p999_ms") == doctest::Approx(p999(never, never)).epsilon(0.1));
  CHECK(value("none", "extra_share") == 0);
  CHECK(value("one_hedge", "p999_ms") == doctest::Approx(p999(10, never)).epsilon(0.1));
  CHECK(value("one_hedge", "extra_share") == doctest::Approx(0.02).epsilon(0.05));
  CHECK(value("ours", "p999_ms") <= 30);
  CHECK(value("ours", "extra_share") <= 0.021);
  CHECK(json.at("seed") == 1);
  for (const char* mode : {"none", "one_hedge", "ours"}) {
    CHECK(value(mode, "queries") == 400'000);
    CHECK(value(mode, "completeness") == 1);
    CHECK(value(mode, "violated") == 0);
  }
}

TEST_CASE("a hedged experiment that does not show what it should says so") {
  // Half of the budget: p99.9 stays above 30 ms.
  const HedgedExperiment experiment = run_hedged_experiment({.seed = 1, .queries = 20'000, .warm_up = 5'000, .budget_fill = 0.005});
  CHECK_FALSE(disagreements(experiment.findings()).empty());
}

}  // namespace hedgerow::lab
