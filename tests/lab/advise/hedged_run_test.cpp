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

TEST_CASE("queries of a run that were given up took longer than that") {
  const AdviceQuestion question = two_values_question();
  const Advice advice = advise(question);
  // Two in a thousand never answered: p99.9 is beyond them, whatever those that did say.
  const LatencyCounts answered = single_samples({{5ms, 9'800}, {10ms, 180}});
  CHECK(compare_with_run(question, advice, answered).agrees());
  const HedgedRunCheck run = compare_with_run(question, advice, answered, single_samples({{6s, 20}}));
  CHECK(run.queries == 10'000);
  CHECK_FALSE(run.difference());
  CHECK_FALSE(run.agrees());
}

TEST_CASE("whether chance explains a difference is said: intervals that have no time in common") {
  const AdviceQuestion question = two_values_question();
  const Advice advice = advise(question);
  // 10 of 10,000 are beyond p99.9, and whether these took 30 ms is hardly chance where 100 did, and may be where 11 did.
  const HedgedRunCheck sure = compare_with_run(question, advice, single_samples({{5ms, 9'900}, {30ms, 100}}));
  CHECK_FALSE(sure.agrees());
  CHECK(sure.beyond_chance());
  CHECK(sure.to_text().find("more than chance explains") != std::string::npos);
  const HedgedRunCheck unsure = compare_with_run(question, advice, single_samples({{5ms, 9'800}, {10ms, 189}, {30ms, 11}}));
  CHECK_FALSE(unsure.agrees());
  CHECK_FALSE(unsure.beyond_chance());
  CHECK(unsure.to_text().find("may be chance") != std::string::npos);
}

TEST_CASE("a run that is too short for the target agrees with nothing") {
  const AdviceQuestion question = two_values_question();
  const HedgedRunCheck run = compare_with_run(question, advise(question), single_samples({{5ms, 98}, {10ms, 2}}));
  CHECK_FALSE(run.difference());
  CHECK_FALSE(run.agrees());
  CHECK(run.to_text().find("not known") != std::string::npos);
}

}  // namespace hedgerow::lab
