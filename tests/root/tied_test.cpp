// Tied pairs in a fan-out: two replicas queue one partition's work, and one of them does it.

#include "root/policy/query/tied.hpp"

#include <doctest/doctest.h>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

constexpr auto superseded = AttemptFailure::superseded;

struct TiedSearch : Search {
  explicit TiedSearch(const std::vector<std::vector<std::uint32_t>>& replicas, HedgeChoice hedge = {.mode = HedgeChoice::Mode::off})
      : Search(replicas, {.hedge = hedge, .tied = true}) {
    for (std::uint32_t i = 0; i < 8; ++i) busy(i, static_cast<int>(10 * i));
  }
};

}  // namespace

TEST_CASE("both halves of a pair name each other, and the second leaves after the way there and back") {
  TiedSearch search({{0, 1, 2}});
  CHECK(search.start() == "send 0 P0 L0 tied twin 1 L1; wake 500us");
  CHECK(search.wakes(500us) == "send 1 P0 L1 tied twin 0 L0; wake 90ms");
  CHECK(search.answers(1, 5ms) == "merge; cancel 0; finish complete");
}

TEST_CASE("the second copy leaves after the measured median round trip, without time waited or worked on the leaf") {
  TiedSearch search({{0, 1}});
  search.policies.on_sent(leaf(7), AttemptKind::canary, at(0ms));
  search.policies.on_answered(leaf(7), AttemptKind::canary, {20ms, 5ms}, {.queue_time = 14ms, .service_time = 4ms}, at(0ms));
  CHECK(to_milliseconds(search.policies.tie_delay(at(0ms))) == doctest::Approx(2).epsilon(0.02));
  CHECK(tie_delay(Duration::zero()) == usual_tie_delay);
  CHECK(tie_delay(3ms) == 3ms);
}

TEST_CASE("an answer before the second copy left saves it") {
  TiedSearch search({{0, 1}, {2}});
  CHECK(search.start() == "send 0 P0 L0 tied twin 1 L1; send 2 P1 L2 primary; wake 500us");
  CHECK(search.answers(0, 400us) == "merge");
  CHECK(search.wakes(500us) == "wake 90ms");
  CHECK(search.answers(2, 1ms) == "merge; finish complete");
  CHECK(search.replica_choice.in_flight(leaf(1)) == 10);
}

TEST_CASE("a superseded half is no failure, and the leaf that has begun answers") {
  TiedSearch search({{0, 1}});
  search.start();
  search.wakes(500us);
  CHECK(search.fails(1, superseded, 2ms) == "");
  CHECK(search.fanout->state_of(0) == PartitionState::waiting);
  CHECK(search.answers(0, 6ms) == "merge; finish complete");
  CHECK(search.budget.tokens() == 100);
}

TEST_CASE("a half that fails leaves its partition to the other, without a retry") {
  TiedSearch search({{0, 1, 2}});
  search.start();
  search.wakes(500us);
  CHECK(search.fails(0, AttemptFailure::refused, 1ms) == "");
  CHECK(search.answers(1, 6ms) == "merge; finish complete");
}

TEST_CASE("a half that fails before the other left is retried like any attempt, and the other never leaves") {
  TiedSearch search({{0, 1, 2}, {3}});
  search.start();
  CHECK(search.fails(0, AttemptFailure::refused, 100us) == "send 3 P0 L1 retry");
  CHECK(search.wakes(500us) == "wake 90ms");
  CHECK(search.answers(3, 6ms) == "merge");
}

TEST_CASE("when the half that had begun fails after all, the leaf whose copy never ran is asked again") {
  TiedSearch search({{0, 1}});
  search.start();
  search.wakes(500us);
  CHECK(search.fails(1, superseded, 2ms) == "");
  CHECK(search.fails(0, AttemptFailure::failed, 5ms) == "send 2 P0 L1 retry");
  CHECK(search.answers(2, 9ms) == "merge; finish complete");

  TiedSearch other_order({{0, 1}});
  other_order.start();
  other_order.wakes(500us);
  CHECK(other_order.fails(0, AttemptFailure::failed, 5ms) == "");
  CHECK(other_order.fails(1, superseded, 6ms) == "send 2 P0 L1 retry");
}

TEST_CASE("a half that could not tell its twin has it cancelled by the root, once") {
  TiedSearch search({{0, 1}});
  search.start();
  search.wakes(500us);
  CHECK(search.begins(1, 2ms) == "cancel 0");
  CHECK(search.begins(0, 2ms) == "");  // both had begun: one of them must go on
  CHECK(search.fails(0, superseded, 3ms) == "");
  CHECK(search.answers(1, 6ms) == "merge; finish complete");
  CHECK(search.begins(1, 7ms) == "");
}

TEST_CASE("a pair's second copy does not draw from the hedge budget nor fill it, and a third replica may be hedged") {
  TiedSearch search({{0, 1, 2}}, hedge_after(10ms));
  search.policies.set_hedge_budget(0.5, 5, at(0ms));
  for (int i = 0; i < 4; ++i) search.policies.hedging.take(at(0ms));
  search.start();
  CHECK(search.wakes(500us) == "send 1 P0 L1 tied twin 0 L0; wake 10ms");
  CHECK(search.policies.hedging.budget().tokens() == doctest::Approx(1.5));
  CHECK(search.wakes(10ms) == "send 2 P0 L2 hedge; wake 20ms");
  CHECK(search.policies.hedging.budget().tokens() == doctest::Approx(0.5));
  CHECK(search.answers(2, 12ms) == "merge; cancel 1; cancel 0; finish complete");
}

TEST_CASE("after one half has begun and hangs, silence asks the leaf whose copy was dropped") {
  TiedSearch search({{0, 1}}, hedge_after(10ms));
  search.start();
  search.wakes(500us);
  search.fails(1, superseded, 1ms);
  CHECK(search.wakes(10ms) == "send 2 P0 L1 hedge; wake 90ms");
}

TEST_CASE("a pair is not made with a leaf that is down, and a leaf that goes down before the copy left is left out") {
  TiedSearch alone({{0, 1}});
  alone.replica_choice.on_leaf_down(leaf(1));
  CHECK(alone.start() == "send 0 P0 L0 primary; wake 90ms");

  TiedSearch search({{0, 1}});
  search.start();
  search.replica_choice.on_leaf_down(leaf(1));
  CHECK(search.wakes(500us) == "wake 90ms");
  CHECK(search.answers(0, 5ms) == "merge; finish complete");
  CHECK(search.replica_choice.in_flight(leaf(1)) == 10);
}

TEST_CASE("the search's end cancels what was sent of a pair, and what was planned is forgotten") {
  TiedSearch search({{0, 1}});
  search.start(90ms - 100us);
  CHECK(search.wakes(90ms) == "cancel 0; finish deadline");
  CHECK(search.in_flight() == 280);  // that of others

  TiedSearch gone({{0, 1}});
  gone.start();
  gone.fanout.reset();
  CHECK(gone.in_flight() == 280);
}

}  // namespace hedgerow::policy
