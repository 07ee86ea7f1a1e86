#include "root/policy/query/fanout.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

constexpr auto refused = AttemptFailure::refused;
constexpr auto failed = AttemptFailure::failed;
constexpr auto expired = AttemptFailure::expired;
constexpr auto unreachable = AttemptFailure::unreachable;
constexpr auto bad_query = AttemptFailure::bad_query;

}  // namespace

TEST_CASE("a search that still waits shortly before its end has documents fetched early, once") {
  Search search({{0}, {1}}, {.early_fetch = at(70ms)});
  CHECK(search.start() == "send 0 P0 L0 primary; send 1 P1 L1 primary; wake 70ms");
  CHECK(search.wakes(69ms) == "wake 70ms");
  CHECK(search.wakes(71ms) == "fetch early; wake 90ms");
  CHECK(search.wakes(80ms) == "wake 90ms");
  CHECK(search.answers(0, 85ms) == "merge");
  CHECK(search.wakes(90ms) == "cancel 1; finish deadline");
}

TEST_CASE("a search that is complete before has nothing fetched early") {
  Search search({{0}}, {.early_fetch = at(70ms)});
  search.start();
  CHECK(search.answers(0, 60ms) == "merge; finish complete");
  CHECK(search.wakes(70ms) == "");
}

TEST_CASE("every partition is asked once, and the search is complete with the last answer") {
  Search search({{0}, {1}, {2}});
  CHECK(search.start() == "send 0 P0 L0 primary; send 1 P1 L1 primary; send 2 P2 L2 primary; wake 90ms");
  CHECK(search.in_flight() == 3);
  CHECK(search.answers(1, 5ms) == "merge");
  CHECK(search.answers(0, 7ms) == "merge");
  CHECK_FALSE(search.fanout->finished());
  CHECK(search.answers(2, 89ms) == "merge; finish complete");
  CHECK(search.fanout->finish_reason() == FinishReason::complete);
  CHECK(search.fanout->answered_by(1) == leaf(1));
  CHECK(search.in_flight() == 0);
}

TEST_CASE("the replica with the fewest attempts in flight is asked, the query's own included") {
  Search search({{0, 1}, {0, 1}, {0, 1}});
  search.busy(0, 2);
  // Leaf 1 is emptier until it has two as well.
  CHECK(search.start().starts_with("send 0 P0 L1 primary; send 1 P1 L1 primary; send 2 P2 L"));
}

TEST_CASE("a fast failure turns at once to a replica that was not asked yet") {
  for (const auto failure : {refused, unreachable, failed}) {
    CAPTURE(static_cast<int>(failure));
    Search search({{0, 1, 2}});
    search.busy(1, 1);
    search.busy(2, 2);
    CHECK(search.start() == "send 0 P0 L0 primary; wake 90ms");
    CHECK(search.fails(0, failure, 3ms) == "send 1 P0 L1 retry");
    CHECK(search.fails(1, refused, 4ms) == "send 2 P0 L2 retry");
    CHECK(search.answers(2, 5ms) == "merge; finish complete");
  }
}

TEST_CASE("a query that two different leaves were lost with is neither retried nor hedged any more") {
  Search search({{0, 1, 2}, {3}, {4}});
  search.busy(1, 1);
  search.busy(2, 2);
  search.start();
  CHECK(search.fails(1, unreachable, 2ms) == "");
  CHECK(search.fails(0, unreachable, 3ms) == "");  // the second
  CHECK(search.fanout->state_of(0) == PartitionState::failed);
  CHECK(search.fanout->lost_leaves() == std::vector{leaf(3), leaf(0)});
  CHECK(search.answers(2, 4ms) == "merge; finish exhausted");
  CHECK(search.budget.tokens() == 100);
}

TEST_CASE("nothing is retried at or after the search's end, and the partition is not left hanging") {
  Search search({{0, 1}, {2, 3}});
  search.busy(1, 1);
  search.busy(3, 1);
  search.start();
  CHECK(search.fails(0, refused, 90ms) == "");
  CHECK(search.fanout->state_of(0) == PartitionState::refused);
  CHECK(search.fails(1, unreachable, 95ms) == "finish exhausted");
  CHECK(search.fanout->attempts() == 2);
}

TEST_CASE("one nanosecond before the search's end is still time for a retry") {
  Search search({{0, 1}});
  search.busy(1, 1);
  search.start();
  CHECK(search.fails(0, refused, 90ms - 1ns) == "send 1 P0 L1 retry");
}

TEST_CASE("work that a leaf found expired, and a query that no leaf can run, are not retried") {
  Search search({{0, 1}, {2, 3}});
  search.busy(1, 1);
  search.busy(3, 1);
  search.start();
  CHECK(search.fails(0, expired, 10ms) == "");
  CHECK(search.fanout->state_of(0) == PartitionState::late);
  CHECK(search.fails(1, bad_query, 11ms) == "finish exhausted");
  CHECK(search.fanout->state_of(1) == PartitionState::failed);
  CHECK(search.budget.tokens() == 100);
}

TEST_CASE("a retry that the budget refuses ends its partition at once instead of leaving it to the deadline") {
  Search search({{0, 1}, {0, 1}});
  search.busy(1, 8);
  search.start();
  while (search.budget.tokens() >= 1) search.budget.take();
  CHECK(search.fails(0, unreachable, 1ms) == "");
  CHECK(search.fanout->state_of(0) == PartitionState::failed);
  CHECK(search.fails(1, refused, 1ms) == "finish exhausted");
  CHECK(search.budget.refused() == 2);
  CHECK(search.in_flight() == 8);
}

TEST_CASE("only a retry costs the budget, and every primary fills it") {
  Search search({{0, 1}, {0, 1}, {0, 1}, {0, 1}, {0, 1}});
  while (search.budget.tokens() >= 1) search.budget.take();
  search.start();  // five primaries at 0.2
  CHECK(search.budget.tokens() == doctest::Approx(1));
  CHECK(search.fails(0, unreachable, 1ms).find("retry") != std::string::npos);
  CHECK(search.budget.tokens() == doctest::Approx(0));
}

TEST_CASE("a partition whose replicas are all down fails at the start, and the others go on") {
  Search search({{0, 1}, {2}});
  search.replica_choice.on_leaf_down(leaf(0));
  search.replica_choice.on_leaf_down(leaf(1));
  CHECK(search.start() == "send 0 P1 L2 primary; wake 90ms");
  CHECK(search.fanout->state_of(0) == PartitionState::failed);
  CHECK(search.answers(0, 5ms) == "merge; finish exhausted");
}

TEST_CASE("with no leaf up, the search is over at once") {
  Search search({{0}, {1}});
  search.replica_choice.on_leaf_down(leaf(0));
  search.replica_choice.on_leaf_down(leaf(1));
  CHECK(search.start() == "wake 90ms; finish exhausted");
  CHECK(search.budget.tokens() == 100);  // what was not sent fills nothing
}

TEST_CASE("the last failure of a partition says why it is missing") {
  struct Row {
    AttemptFailure first, second;
    PartitionState state;
  };
  for (const Row& row : {Row{refused, refused, PartitionState::refused}, Row{failed, refused, PartitionState::refused},
                         Row{refused, failed, PartitionState::failed}, Row{refused, unreachable, PartitionState::failed},
                         Row{refused, expired, PartitionState::late}, Row{failed, bad_query, PartitionState::failed}}) {
    CAPTURE(static_cast<int>(row.first));
    CAPTURE(static_cast<int>(row.second));
    Search search({{0, 1}});
    search.start();
    CHECK(search.fails(0, row.first, 1ms).find("send 1") == 0);
    CHECK(search.fails(1, row.second, 2ms) == "finish exhausted");
    CHECK(search.fanout->state_of(0) == row.state);
  }
}

TEST_CASE("at the search's end what is outstanding is cancelled and late, and answers after it are dropped") {
  Search search({{0}, {1}, {2}});
  search.start();
  CHECK(search.answers(1, 20ms) == "merge");
  CHECK(search.wakes(40ms) == "wake 90ms");  // woken too early
  CHECK(search.wakes(90ms) == "cancel 0; cancel 2; finish deadline");
  CHECK(search.fanout->state_of(0) == PartitionState::late);
  CHECK(search.fanout->state_of(1) == PartitionState::answered);
  CHECK(search.in_flight() == 0);
  CHECK(search.answers(0, 91ms) == "drop");
  CHECK(search.fanout->state_of(0) == PartitionState::late);
}

TEST_CASE("a query that begins after its search's end sends nothing") {
  for (const Duration now : {90ms, 2000ms}) {
    Search search({{0}, {1}});
    CHECK(search.start(now) == "finish deadline");
    CHECK(search.fanout->state_of(1) == PartitionState::late);
    CHECK(search.in_flight() == 0);
  }
}

TEST_CASE("a partition is merged once: a second answer for it is dropped, whoever it comes from") {
  Search search({{0, 1}, {2}});
  search.busy(1, 1);
  search.start();
  CHECK(search.fails(0, unreachable, 1ms) == "send 2 P0 L1 retry");
  CHECK(search.answers(2, 2ms) == "merge");
  CHECK(search.answers(2, 3ms) == "drop");
  CHECK(search.answers(0, 3ms) == "drop");  // given up, and there after all
  CHECK(search.fanout->answered_by(0) == leaf(1));
}

TEST_CASE("a failure that is told twice has one retry") {
  Search search({{0, 1, 2}});
  search.busy(1, 1);
  search.busy(2, 2);
  search.start();
  CHECK(search.fails(0, unreachable, 1ms) == "send 1 P0 L1 retry");
  CHECK(search.fails(0, unreachable, 1ms) == "");
  CHECK(search.budget.tokens() == 99);
}

TEST_CASE("after Finish nothing is done any more, whatever comes") {
  Search search({{0, 1}, {2, 3}});
  search.start();
  search.wakes(90ms);
  CHECK(search.fails(0, refused, 20ms) == "");
  CHECK(search.answers(1, 21ms) == "drop");
  CHECK(search.wakes(100ms) == "");
  CHECK(described(search.fanout->abandon(at(101ms))) == "");
}

TEST_CASE("a client that goes away has everything cancelled") {
  Search search({{0}, {1}});
  search.start();
  search.answers(0, 1ms);
  CHECK(described(search.fanout->abandon(at(2ms))) == "cancel 1; finish exhausted");
  CHECK(search.in_flight() == 0);
}

TEST_CASE("a search that is destroyed early leaves nothing in flight") {
  Search search({{0, 1}, {2, 3}});
  search.start();
  search.fails(0, refused, 1ms);
  CHECK(search.in_flight() == 2);
  search.fanout.reset();
  CHECK(search.in_flight() == 0);
}

TEST_CASE("a search over no partition is complete at once") {
  Search search({});
  CHECK(search.start() == "finish complete");
}

}  // namespace hedgerow::policy
