// A prediction against a run that was hedged so.
#include "lab/advise/hedged_run.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

// Hedged at 5 ms, all but 4 in 10,000 are done within 10 ms.
AdviceQuestion two_values_question() {
  AdviceQuestion question;
  question.latencies = single_samples({{5ms, 98'000}, {200ms, 2'000}});
  question.budget = 0.03;
  return question;
}

}  // namespace

TEST_CASE("a hedged run within 15 % of the prediction agrees, one beyond does not") {
  const AdviceQuestion question = two_values_question();
  const Advice advice = advise(question);
  REQUIRE(advice.at_target(question).with.time == 10ms);
  for (const auto& [late, difference] : {std::pair{Duration(11ms), 0.1}, std::pair{Duration(9ms), -0.1}, std::pair{Duration(12ms), 0.2}}) {
    CAPTURE(late.count());
    const HedgedRunCheck run = compare_with_run(question, advice, single_samples({{5ms, 9'800}, {late, 195}, {300ms, 5}}));
    CHECK(run.queries == 10'000);
    REQUIRE(run.difference());
    CHECK(*run.difference() == doctest::Approx(difference));
    CHECK(run.agrees() == (std::abs(difference) <= 0.15));
    CHECK(run.to_json().at("agrees") == run.agrees());
  }
}

TEST_CASE("a run that is too short for the target agrees with nothing") {
  const AdviceQuestion question = two_values_question();
  const HedgedRunCheck run = compare_with_run(question, advise(question), single_samples({{5ms, 98}, {10ms, 2}}));
  CHECK_FALSE(run.difference());
  CHECK_FALSE(run.agrees());
  CHECK(run.to_text().find("not known") != std::string::npos);
}

}  // namespace hedgerow::lab
