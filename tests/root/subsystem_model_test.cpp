// What is learnt of an optional subsystem: expected latencies where some are only known to be at least so long, letting
// one through, and rationed waiting. Expected quantiles are worked out by hand.
#include "root/policy/cluster/subsystem_model.hpp"

#include <doctest/doctest.h>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

// Within the histogram's precision.
bool about(std::optional<Duration> found, Duration wanted) {
  return found && to_milliseconds(*found) > 0.98 * to_milliseconds(wanted) && to_milliseconds(*found) < 1.02 * to_milliseconds(wanted);
}

}  // namespace

TEST_CASE("what was given up moves its weight to what lasted longer (Kaplan and Meier)") {
  // Five ended: answered after 1, 3 and 5 ms, given up after 2 and 4 ms. Unanswered after 1 ms: 4/5; after 3 ms: of three
  // that lasted so long one is answered, 4/5 · 2/3 = 8/15; after 5 ms: the last one is, 0.
  LatencyModel model;
  for (const auto answered : {1ms, 3ms, 5ms}) model.record(answered, at(0s));
  for (const auto given_up : {2ms, 4ms}) model.record_at_least(given_up, at(0s));
  CHECK(about(model.quantile(0.19, at(1s)), 1ms));
  CHECK(about(model.quantile(0.46, at(1s)), 3ms));  // 7/15 = 0.467
  CHECK(about(model.quantile(0.47, at(1s)), 5ms));
  CHECK(about(model.quantile(1.0, at(1s)), 5ms));
  CHECK(model.samples(at(1s)) == 5);
}

TEST_CASE("where what was given up lasted longest, the high quantiles are longer than known") {
  LatencyModel model;
  for (int i = 0; i < 94; ++i) model.record(1ms, at(0s));
  for (int i = 0; i < 6; ++i) model.record_at_least(7ms, at(0s));
  CHECK(about(model.quantile(0.94, at(1s)), 1ms));
  CHECK(model.quantile(0.95, at(1s)) == LatencyModel::longer_than_known);
  CHECK(model.curve(at(1s)).unanswered_after(500us) == 1);
  CHECK(model.curve(at(1s)).unanswered_after(2ms) == doctest::Approx(0.06));
  CHECK(model.curve(at(1s)).unanswered_after(1h) == doctest::Approx(0.06));
  LatencyModel nothing_answered;
  nothing_answered.record_at_least(7ms, at(0s));
  CHECK(nothing_answered.quantile(0.5, at(1s)) == LatencyModel::longer_than_known);
  nothing_answered.forget();
  CHECK(nothing_answered.quantile(0.5, at(1s)) == std::nullopt);
}

TEST_CASE("a subsystem starts where nothing is known, or where what is expected fits into the time") {
  SubsystemModel model;
  CHECK(model.judge_start(1ms, at(0s)) == SubsystemModel::Verdict::start);
  for (int i = 0; i < 20; ++i) model.on_answered(30ms, false, at(1s));
  CHECK(model.judge_start(31ms, at(1s)) == SubsystemModel::Verdict::start);
  CHECK(model.judge_start(29ms, at(1s)) == SubsystemModel::Verdict::let_through);
  CHECK(model.judge_start(29ms, at(1s)) == SubsystemModel::Verdict::skip);
  CHECK(model.judge_start(31ms, at(1s)) == SubsystemModel::Verdict::start);
}

TEST_CASE("a subsystem starts while a fifth of the latest calls is answered, and stops soon where none is") {
  // One of three, one of eight: of the latest thirty or so, between a fifth and a half, and less than a fifth.
  for (const auto& [one_of, starts] : {std::pair{3, true}, std::pair{8, false}}) {
    CAPTURE(one_of);
    SubsystemModel model;
    for (int i = 1; i <= 300; ++i) {
      if (i % one_of == 0) {
        model.on_answered(1ms, false, at(0s));
      } else {
        model.on_given_up(6ms, at(0s));
      }
    }
    CHECK((model.judge_start(1s, at(1s)) == SubsystemModel::Verdict::start) == starts);
  }
  // 31/32 to the power of 51 is below a fifth.
  SubsystemModel model;
  for (int i = 0; i < 10'000; ++i) model.on_answered(1ms, false, at(0s));
  int given_up = 0;
  while (model.judge_start(1s, at(1s)) == SubsystemModel::Verdict::start) {
    model.on_given_up(6ms, at(1s));
    ++given_up;
  }
  CHECK(given_up == 51);
}

TEST_CASE("a call is likely to come where four of five that lasted as long came within the grace") {
  // 50 answered after 2 ms, 40 after 10 ms, 10 after 50 ms.
  SubsystemModel model;
  CHECK(model.likely_within(5ms, 1h, at(0s)));  // nothing is known
  for (int i = 0; i < 100; ++i) model.on_answered(i < 50 ? 2ms : i < 90 ? 10ms : 50ms, false, at(0s));
  CHECK_FALSE(model.likely_within(5ms, 0ms, at(1s)));  // half
  CHECK_FALSE(model.likely_within(5ms, 4ms, at(1s)));  // none up to 9 ms
  CHECK(model.likely_within(5ms, 6ms, at(1s)));        // 40 of 50
  CHECK_FALSE(model.likely_within(5ms, 12ms, at(1s)));
  CHECK(model.likely_within(5ms, 46ms, at(1s)));
  CHECK_FALSE(model.likely_within(5ms, 52ms, at(1s)));  // longer than any took
}

TEST_CASE("of what is skipped one a second is let through, and one that is answered in time ends it") {
  SubsystemModel model;
  for (int i = 0; i < 60; ++i) model.on_given_up(6ms, at(0s));
  int let_through = 0;
  for (int millisecond = 0; millisecond < 5000; millisecond += 10) {
    const auto verdict = model.judge_start(1s, at(std::chrono::milliseconds(millisecond)));
    REQUIRE(verdict != SubsystemModel::Verdict::start);
    let_through += verdict == SubsystemModel::Verdict::let_through ? 1 : 0;
  }
  CHECK(let_through == 5);
  model.on_answered(2ms, true, at(5s));
  CHECK(about(model.expected(at(5s)), 2ms));
  CHECK(model.judge_start(10ms, at(5s)) == SubsystemModel::Verdict::start);
}

TEST_CASE("waiting in vain is rationed to a quarter of a per cent of the queries, and two at first") {
  SubsystemModel model;
  int waited = 0;
  for (int query = 0; query < 20'000; ++query) {
    if (!model.may_wait(at(0s))) continue;
    ++waited;
    model.on_waited(true);
  }
  CHECK(waited >= 50);
  CHECK(waited <= 52);
}

TEST_CASE("when many waited in vain at the same moment, waiting is tried again after 400 queries, and trusted when it pays") {
  SubsystemModel model;
  for (int i = 0; i < 500; ++i) model.on_waited(true);
  int queries = 0;
  while (!model.may_wait(at(0s))) ++queries;
  CHECK(queries >= 398);
  CHECK(queries <= 401);
  for (int i = 0; i < 12; ++i) model.on_waited(false);
  model.on_waited(true);  // two are owed again
  CHECK(model.may_wait(at(0s)));
  model.on_waited(true);
  CHECK_FALSE(model.may_wait(at(0s)));
}

TEST_CASE("with few queries waiting is tried again after twenty seconds") {
  SubsystemModel model;
  CHECK(model.may_wait(at(0s)));
  for (int i = 0; i < 500; ++i) model.on_waited(true);
  CHECK_FALSE(model.may_wait(at(19s)));
  CHECK(model.may_wait(at(20s)));
  model.on_waited(true);
  CHECK_FALSE(model.may_wait(at(39s)));
  CHECK(model.may_wait(at(41s)));
}

}  // namespace hedgerow::policy
