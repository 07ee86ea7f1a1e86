// Good enough: the rule in tables computed by hand, and what a fan-out does with it.

#include "root/policy/query/good_enough.hpp"

#include <doctest/doctest.h>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

// Half of the answers come after 10 ms, a quarter after 20, an eighth after 80; the rest takes longer than is known.
LatencyCurve three_steps() {
  LatencyCurve curve;
  curve.answered = 7;
  curve.given_up = 1;
  curve.steps = {{10ms, 0.5}, {20ms, 0.25}, {80ms, 0.125}};
  return curve;
}

std::string until(const GoodEnoughRule& rule, double completeness, const std::vector<Awaited>& awaited,
                  const LatencyCurve& curve = three_steps(), Duration now = 0ms) {
  const auto instant = worth_waiting_until(rule, completeness, awaited, curve, at(90ms), at(now));
  return instant ? format_duration(*instant - at(0ms)) : "answer";
}

}  // namespace

TEST_CASE("waiting is worth its time where patience times the expected percents is more than it") {
  struct Row {
    Duration patience;
    std::vector<Awaited> awaited;
    std::string until;
  };
  const Row rows[] = {
      // 10 % at one half after 10 ms: 5 percent. At 2 ms each that is 10 ms, no more than it costs.
      {2ms, {{0.1, 0ms}}, "answer"},
      {2ms + 1us, {{0.1, 0ms}}, "10ms"},
      // At 5 ms: after 10 ms 25 - 10 = 15; after 20 ms 37.5 - 20 = 17.5; after 80 ms nothing is left.
      {5ms, {{0.1, 0ms}}, "20ms"},
      {4ms, {{0.1, 0ms}}, "10ms"},  // 20 - 10 and 30 - 20 are the same: the sooner
      // After 12 ms of waiting, of the half that is left half comes in 8 ms, and half of the rest 60 ms later.
      {2ms, {{0.1, 12ms}}, "8ms"},        // 10 - 8
      {1500us, {{0.1, 12ms}}, "answer"},  // 7.5 - 8
      // Waited longer than is known: half of such come within as long again. At 2 ms each that is 10 ms for 81.
      {2ms, {{0.1, 81ms}}, "answer"},
      {1s, {{0.1, 81ms}}, "81ms"},
      // Two partitions are worth more together than each.
      {2ms, {{0.05, 0ms}, {0.05, 0ms}}, "answer"},
      {2ms, {{0.06, 0ms}, {0.05, 0ms}}, "10ms"},
      {1ms, {{0.1, 8ms}, {0.1, 9ms}}, "2ms"},  // 5 - 1 = 4; 10 - 2 = 8; 12 ms: 15 - 12
      {10ms, {}, "answer"},
  };
  for (const Row& row : rows) {
    CAPTURE(format_duration(row.patience));
    CAPTURE(row.until);
    CHECK(until({0.5, row.patience}, 0.9, row.awaited) == row.until);
  }
}

TEST_CASE("however short what is known and what was waited are, one looks again later, not at once") {
  LatencyCurve at_once;  // all answers came in no time
  at_once.answered = 8;
  at_once.steps = {{0ms, 0.0}};
  for (const Duration waited : {Duration(0), Duration(1), Duration(100), Duration(10us)}) {
    CAPTURE(waited.count());
    // Of such as last for a millisecond 1 in 9 ends within an eighth of one; the more the longer, up to 16 of them.
    const auto instant = worth_waiting_until({0.5, 1s}, 0.9, {{0.1, waited}}, at_once, at(90ms), at(0ms));
    REQUIRE(instant.has_value());
    CHECK(*instant - at(0ms) >= 125us);
    CHECK(*instant - at(0ms) <= 16ms);
  }
}

TEST_CASE("with less than the least completeness, or with nothing known, the search's end is waited for") {
  CHECK(until({0.95, 0ms}, 0.949, {{0.051, 0ms}}) == "90ms");
  CHECK(until({0.95, 0ms}, 0.95, {{0.05, 0ms}}) == "answer");
  CHECK(until({0.5, 2ms}, 0.9, {{0.1, 0ms}}, LatencyCurve{}) == "90ms");
}

TEST_CASE("nothing is waited for beyond the search's end") {
  CHECK(until({0.5, 1s}, 0.9, {{0.1, 0ms}}, three_steps(), 0ms) == "80ms");
  CHECK(until({0.5, 1s}, 0.9, {{0.1, 0ms}}, three_steps(), 40ms) == "60ms");
  CHECK(until({0.5, 1s}, 0.9, {{0.1, 0ms}}, three_steps(), 85ms) == "answer");
}

TEST_CASE("a partition on a leaf that is known to be slow is waited for only if that pays") {
  // 60 ms later than the curve: its half comes after 70 ms, 65 from now; a quarter after 75 from now.
  const Awaited slow{0.1, 5ms, 60ms};
  CHECK(until({0.5, 5ms}, 0.9, {slow}) == "answer");  // 25 - 65, 37.5 - 75
  CHECK(until({0.5, 12ms}, 0.9, {slow}) == "75ms");   // 60 - 65, 90 - 75
  CHECK(usual_rest(slow, three_steps()) == 65ms);
  CHECK(usual_rest({0.1, 12ms}, three_steps()) == 8ms);
  CHECK(usual_rest({0.1, 81ms}, three_steps()) == Duration::max());
}

namespace {

// Ten partitions of leaves 0 to 4 that have answered within 10 ms until now.
struct PatientSearch : Search {
  explicit PatientSearch(GoodEnoughRule rule, HedgeChoice hedge = {.mode = HedgeChoice::Mode::off}) : Search({}) {
    for (int i = 0; i < 400; ++i) {
      policies.on_sent(leaf(static_cast<std::uint32_t>(i % 8)), AttemptKind::canary, at(0ms));
      policies.on_answered(leaf(static_cast<std::uint32_t>(i % 8)), AttemptKind::canary, {10ms, 10ms}, {}, at(0ms));
    }
    std::vector<std::vector<std::uint32_t>> replicas;
    for (std::uint32_t i = 0; i < 5; ++i) replicas.push_back({i});
    begin(replicas, {.hedge = hedge, .good_enough = rule, .documents = {30, 30, 20, 15, 5}});
  }
};

}  // namespace

TEST_CASE("a search with enough goes on while waiting pays, and then answers with what it has") {
  PatientSearch search({.min_completeness = 0.9, .patience = 2ms});
  search.start();
  CHECK(search.answers(0, 1ms) == "merge");
  CHECK(search.answers(1, 2ms) == "merge");
  CHECK(search.answers(2, 3ms) == "merge");
  // 95 %: the last 5 % are worth 10 ms, and will come 7 ms from now.
  const std::string waits = search.answers(3, 3ms);
  CAPTURE(waits);
  CHECK(waits.starts_with("merge; wake "));
  // They have not come when the leaf had never taken longer.
  CHECK(search.wakes(12ms) == "cancel 4; finish good_enough");
  CHECK(search.fanout->state_of(4) == PartitionState::late);
  CHECK(search.fanout->finish_reason() == FinishReason::good_enough);
  CHECK(search.in_flight() == 0);
}

TEST_CASE("a search with enough answers at once where waiting does not pay") {
  PatientSearch search({.min_completeness = 0.9, .patience = 50us});
  search.start();
  search.answers(0, 1ms);
  search.answers(1, 2ms);
  search.answers(2, 3ms);
  CHECK(search.answers(3, 4ms) == "merge; cancel 4; finish good_enough");  // a quarter of a millisecond against six
}

TEST_CASE("completeness is the share of documents, not of partitions") {
  PatientSearch search({.min_completeness = 0.75, .patience = 0ms});
  search.start();
  CHECK(search.answers(4, 1ms) == "merge");
  CHECK(search.answers(3, 1ms) == "merge");
  CHECK(search.answers(2, 1ms) == "merge");  // three of five partitions, 40 of 100 documents
  CHECK(search.answers(0, 1ms) == "merge");
  CHECK(search.answers(1, 1ms) == "merge; finish complete");
}

TEST_CASE("1 of 40 missing and 39 of 40 missing are not the same, and neither is complete (trap 7)") {
  for (const bool nearly_all : {true, false}) {
    std::vector<std::vector<std::uint32_t>> replicas(40, std::vector<std::uint32_t>{0});
    Search search(replicas, {.good_enough = {.min_completeness = 0.5, .patience = 0ms}});
    search.policies.on_sent(leaf(7), AttemptKind::canary, at(0ms));
    search.policies.on_answered(leaf(7), AttemptKind::canary, {10ms, 10ms}, {}, at(0ms));
    search.start();
    std::uint32_t answered = 0;
    const std::uint32_t arrive = nearly_all ? 39 : 1;
    while (!search.fanout->finished() && answered < arrive) search.answers(answered++, 1ms);
    if (nearly_all) {
      CHECK(search.fanout->finish_reason() == FinishReason::good_enough);
      CHECK(answered == 20);
    } else {
      CHECK_FALSE(search.fanout->finished());
      search.wakes(90ms);
      CHECK(search.fanout->finish_reason() == FinishReason::deadline);
    }
    std::size_t late = 0;
    for (std::size_t i = 0; i < 40; ++i) late += search.fanout->state_of(i) == PartitionState::late ? 1 : 0;
    CHECK(late == (nearly_all ? 20 : 39));
  }
}

TEST_CASE("what failed for good is not waited for: the rest is judged without it") {
  PatientSearch search({.min_completeness = 0.8, .patience = 2ms});
  search.start();
  search.answers(0, 1ms);
  search.answers(1, 1ms);
  search.answers(2, 1ms);
  CHECK_FALSE(search.fanout->finished());  // 15 + 5 percent are worth 40 ms
  CHECK(search.fails(3, AttemptFailure::bad_query, 2ms).starts_with(""));
  CHECK_FALSE(search.fanout->finished());
  CHECK(search.answers(4, 3ms) == "merge; finish exhausted");
}

}  // namespace hedgerow::policy
