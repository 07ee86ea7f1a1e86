// Advices against the simulator: the prediction keeps to what our policies really reach, and one that does not is found.
#include "lab/advise/advice_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "lab/experiments/hedged_model.hpp"
#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

// As a run of a hundred thousand attempts would have measured them.
AdviceQuestion measured(std::size_t width, std::uint64_t seed) {
  AdviceQuestion question;
  const auto latency = hedged_experiment_latency();
  Random random(seed);
  question.latencies = exact_samples(100'000, [&](double) { return latency.draw(random); });
  question.width = width;
  question.replicas = 3;
  return question;
}

// 20,000 queries in each run, which is the fewest.
AdviceCheckSettings small() { return {.seed = 1, .attempts = 1, .attempts_under_load = 0}; }

}  // namespace

// The bar is 15 %. 20 of 20,000 simulated queries are beyond p99.9; with hedges the tail is so steep there that this is a few
// percent.
TEST_CASE("what is predicted of hedged queries is what our policies reach in the simulator, within 15 %") {
  const AdviceQuestion question = measured(20, 1);
  const Advice advice = advise(question);
  REQUIRE(advice.verdict == Verdict::hedge);
  const AdviceCheck check = check_advice(question, advice, small());
  REQUIRE(check.difference());
  CHECK(std::abs(*check.difference()) < 0.15);
  for (const auto& disagreement : check.disagreements()) FAIL_CHECK(disagreement);
  CHECK(check.queries == 20'000);
  CHECK(check.violated == 0);
  CHECK(check.simulated_extra < 1.1 * question.budget);
  CHECK(check.loads.empty());
  for (const auto& figure : check.figures) {
    if (figure.quantile > 0.99 || !figure.predicted_without_ms) continue;
    CAPTURE(figure.quantile);
    CHECK(figure.simulated_without_ms == doctest::Approx(*figure.predicted_without_ms).epsilon(0.1));
    REQUIRE(figure.predicted_with_ms);
    CHECK(figure.simulated_with_ms == doctest::Approx(*figure.predicted_with_ms).epsilon(0.1));
  }
  CHECK(check.to_json().at("agrees") == true);
}

TEST_CASE("a prediction that the simulator does not bear out is found") {
  const AdviceQuestion question = measured(20, 1);
  Advice advice = advise(question);
  // As if it cost nothing to hedge at once.
  advice.hedges.delays = {1ms, 2ms};
  const AdviceCheck check = check_advice(question, advice, small());
  REQUIRE(check.difference());
  CHECK(*check.difference() > 0.15);
  CHECK_FALSE(check.disagreements().empty());
  CHECK(check.to_json().at("agrees") == false);
}

TEST_CASE("one delay that was to be judged is simulated as it is") {
  AdviceQuestion question = measured(20, 2);
  question.delays = {10ms};
  const AdviceCheck check = check_advice(question, advise(question), small());
  CHECK(check.simulated_extra == doctest::Approx(0.02).epsilon(0.1));
  REQUIRE(check.difference());
  CHECK(std::abs(*check.difference()) < 0.25);  // its tail is not steep: 20 queries beyond are few
}

TEST_CASE("what the simulator cannot do is said") {
  AdviceQuestion question = measured(20, 1);
  CHECK_FALSE(problem_with_check(question));
  question.delays = {10ms, 20ms};
  CHECK_FALSE(problem_with_check(question));
  question.delays = {10ms, 15ms};
  CHECK(problem_with_check(question));
  question.delays = {0ms};
  CHECK(problem_with_check(question));
  question.delays.clear();
  question.width = 2'000;
  CHECK(problem_with_check(question));
}

TEST_CASE("below the load that is called harmful hedging does no harm in the simulator") {
  AdviceQuestion question;
  question.latencies = exact_samples(50'000, [](double share) { return from_milliseconds(-5 * std::log1p(-share)); });
  question.width = 4;
  question.replicas = 3;
  question.load = 0.0;
  const Advice advice = advise(question);
  REQUIRE(advice.harmful);
  const AdviceCheck check = check_advice(question, advice, {.seed = 1, .attempts = 1, .attempts_under_load = 100'000});
  REQUIRE(check.loads.size() == 6);
  for (const auto& each : check.loads) {
    CAPTURE(each.load);
    // Waits are nearly independent there: without hedges the queue's law holds.
    if (each.load <= 0.65) CHECK(each.simulated_without_ms == doctest::Approx(each.predicted_without_ms).epsilon(0.15));
    if (each.load < check.lowest_harmful) CHECK(each.simulated_with_ms <= 1.05 * each.simulated_without_ms);
  }
  for (const auto& disagreement : check.disagreements()) CHECK(disagreement.find("harms") == std::string::npos);
}

}  // namespace hedgerow::lab
