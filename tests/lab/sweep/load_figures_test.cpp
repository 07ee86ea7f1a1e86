#include "lab/sweep/load_figures.hpp"

#include <doctest/doctest.h>

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::lab::sweep;
using namespace std::chrono_literals;

namespace {

LoadOutcome outcome_with(std::optional<int> status, Duration latency) {
  LoadOutcome outcome;
  outcome.status = status;
  outcome.latency = latency;
  return outcome;
}

LoadFrame open_loop() {
  LoadFrame frame;
  frame.rate = 10;
  frame.measured = frame.elapsed = frame.sending = 30s;
  return frame;
}

}  // namespace

TEST_CASE("every figure of a run is what the load measured") {
  LoadReport report;
  // 300 answers of 1, 2, … 300 ms, half of them complete, each with one hedge for ten partitions.
  for (int i = 1; i <= 300; ++i) {
    auto outcome = outcome_with(200, std::chrono::milliseconds(i));
    outcome.completeness_in_body = i % 2 == 0 ? 1.0 : 0.5;
    outcome.recall = 0.9;
    outcome.ndcg_10 = 0.6;
    outcome.partitions_asked = 10;
    outcome.attempts[static_cast<std::size_t>(AttemptKind::primary)] = 10;
    outcome.attempts[static_cast<std::size_t>(AttemptKind::hedge)] = 1;
    report.record(outcome);
  }
  // Seven that got nothing.
  for (const std::optional<int> status : {std::optional(503), std::optional(503), std::optional(503), std::optional(504), std::optional(504), std::optional(500), std::optional<int>()}) {
    auto outcome = outcome_with(status, 1ms);
    outcome.recall = outcome.ndcg_10 = 0;
    report.record(outcome);
  }

  const Figures figures = figures_of(open_loop(), report);
  CHECK(figures.queries == 307);
  CHECK(figures.answered == 300);
  CHECK(figures.refused == 3);
  CHECK(figures.late == 2);
  CHECK(figures.failed == 2);
  CHECK(figures.kept_up);
  CHECK(figures.p50_ms == doctest::Approx(150).epsilon(0.002));
  CHECK(figures.p99_ms == doctest::Approx(297).epsilon(0.002));
  CHECK_FALSE(figures.p99_9_ms);
  CHECK(figures.max_ms == doctest::Approx(300));
  CHECK(figures.completeness == doctest::Approx(0.75 * 300 / 307));
  CHECK(figures.recall == doctest::Approx(0.9 * 300 / 307));
  CHECK(figures.ndcg == doctest::Approx(0.6 * 300 / 307));
  CHECK(figures.extra_attempts == doctest::Approx(0.1));
  CHECK(figures.answered_share() == doctest::Approx(300.0 / 307));
  CHECK(figures.latency->count() == 300);
}

TEST_CASE("without an answer there is no latency, and nothing was searched") {
  LoadReport report;
  for (int i = 0; i < 10; ++i) report.record(outcome_with(503, 1ms));
  const Figures figures = figures_of(open_loop(), report);
  CHECK(figures.refused == 10);
  CHECK_FALSE(figures.p50_ms);
  CHECK_FALSE(figures.max_ms);
  CHECK(figures.completeness == 0.0);
  CHECK_FALSE(figures.recall);
  CHECK_FALSE(figures.extra_attempts);
  CHECK(figures.answered_share() == 0.0);
}

TEST_CASE("a load that came late says so in its run") {
  LoadReport report;
  for (int i = 0; i < 100; ++i) {
    auto outcome = outcome_with(200, 20ms);
    outcome.send_lag = outcome.own_lag = 10ms;
    report.record(outcome);
  }
  const Figures figures = figures_of(open_loop(), report);
  CHECK_FALSE(figures.kept_up);
  CHECK(figures.not_kept_up.find("did not keep up") != std::string::npos);
}
