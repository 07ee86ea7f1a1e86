// When a fan-out asks another replica because of silence, and what it tells the cluster's policies of it.

#include "root/policy/query/hedge.hpp"

#include <doctest/doctest.h>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

// Partitions whose first replica is the emptiest, and so on in order.
struct HedgedSearch : Search {
  explicit HedgedSearch(const std::vector<std::vector<std::uint32_t>>& replicas, Duration delay = 10ms)
      : Search(replicas, {.hedge = hedge_after(delay)}) {
    for (std::uint32_t i = 0; i < 8; ++i) busy(i, static_cast<int>(10 * i));
  }
};

// What a leaf says that was done with an attempt so long after it came, and has more of its queue to do.
constexpr AttemptReport done_after(Duration waited, Duration worked) { return {.queue_time = waited, .service_time = worked, .queued = 1}; }

double tokens(const SearchPolicies& policies) { return policies.hedging.budget().tokens(); }

}  // namespace

TEST_CASE("a partition that is silent for the delay is asked of another replica, and the first answer cancels the other") {
  HedgedSearch search({{0, 1}});
  CHECK(search.start() == "send 0 P0 L0 primary; wake 10ms");
  CHECK(search.wakes(9ms) == "wake 10ms");
  CHECK(search.wakes(10ms) == "send 1 P0 L1 hedge; wake 90ms");
  CHECK(search.answers(1, 14ms) == "merge; cancel 0; finish complete");
  CHECK(search.fanout->answered_by(0) == leaf(1));
}

TEST_CASE("the loser's answer is never merged as well, whoever loses (trap 13)") {
  HedgedSearch search({{0, 1}, {2}});
  search.start();
  search.wakes(10ms);
  CHECK(search.answers(0, 12ms) == "merge; cancel 2");
  CHECK(search.answers(2, 13ms) == "drop");
  CHECK(search.answers(0, 13ms) == "drop");
}

TEST_CASE("a partition that is answered before the delay is not hedged") {
  HedgedSearch search({{0, 1}, {2, 3}});
  search.start();
  CHECK(search.answers(0, 9ms) == "merge");
  CHECK(search.wakes(10ms) == "send 2 P1 L3 hedge; wake 90ms");
}

TEST_CASE("a hedge is paid for with one token, and a query fills the budget once for each partition") {
  HedgedSearch search({{0, 1}, {2, 3}});
  search.policies.set_hedge_budget(0.25, 2, at(0ms));
  while (search.policies.hedging.take(at(0ms))) {
  }
  CHECK(tokens(search.policies) == doctest::Approx(0));
  search.start();
  CHECK(tokens(search.policies) == doctest::Approx(0.5));
  search.policies.set_hedge_budget(2, 2, at(0ms));
  search.policies.hedging.on_primary(leaf(7), at(1ms));
  CHECK(tokens(search.policies) == doctest::Approx(2));
  search.wakes(10ms);
  CHECK(tokens(search.policies) == doctest::Approx(0));
}

TEST_CASE("a hedge that the budget refuses leaves its partition to the attempt that it has (trap 14)") {
  HedgedSearch search({{0, 1}, {2, 3}});
  search.policies.set_hedge_budget(0, 1, at(0ms));
  search.start();
  CHECK(search.wakes(10ms) == "send 2 P0 L1 hedge; wake 90ms");  // one token for two partitions
  CHECK(search.policies.hedging.budget().refused() == 1);
  CHECK(search.wakes(11ms) == "wake 90ms");
  CHECK(search.answers(0, 20ms) == "merge; cancel 2");
  CHECK(search.answers(1, 30ms) == "merge; finish complete");
}

TEST_CASE("an attempt that stalls right after its sending is hedged, and else ends with the search (trap 21)") {
  HedgedSearch hedged({{0, 1}});
  hedged.start();
  hedged.wakes(10ms);
  CHECK(hedged.answers(1, 11ms).starts_with("merge"));

  HedgedSearch alone(std::vector<std::vector<std::uint32_t>>{{0}});
  CHECK(alone.start() == "send 0 P0 L0 primary; wake 90ms");
  CHECK(alone.wakes(90ms) == "cancel 0; finish deadline");
}

TEST_CASE("time waited behind the same frame's earlier partitions is not slowness") {
  HedgedSearch search({{0, 1}, {0, 2}, {0, 3}});
  search.start();
  CHECK(search.answers(0, 8ms, done_after(0ms, 8ms)) == "merge");
  // The second and third have been under way for ten milliseconds, and their leaf is at work.
  CHECK(search.wakes(10ms) == "wake 18ms");
  CHECK(search.answers(1, 15ms, done_after(8ms, 7ms)) == "merge");
  CHECK(search.wakes(18ms) == "wake 25ms");
  CHECK(search.wakes(25ms) == "send 3 P2 L3 hedge; wake 90ms");
}

TEST_CASE("a turn begins with the end of the work before it, however late that work's answer came, and whatever a leaf says") {
  struct Row {
    AttemptReport report;
    const char* due;
  };
  for (const Row& row : {Row{done_after(1ms, 2ms), "wake 13ms"},                // 5 ms on the way back, or held back
                         Row{done_after(0ms, 8ms), "wake 18ms"}, Row{done_after(0ms, 20ms), "wake 18ms"},
                         Row{done_after(Duration::max(), Duration::max()), "wake 18ms"},
                         Row{done_after(Duration::min(), 3ms), "wake 13ms"}}) {
    HedgedSearch search({{0, 1}, {0, 2}});
    search.start();
    CHECK(search.answers(0, 8ms, row.report) == "merge");
    CHECK(search.wakes(10ms) == row.due);
  }
}

TEST_CASE("an answer of a leaf with an empty queue moves no turn: what else it was asked runs side by side") {
  HedgedSearch search({{0, 1}, {0, 2}});
  search.start();
  CHECK(search.answers(0, 8ms) == "merge");
  CHECK(search.wakes(10ms) == "send 2 P1 L2 hedge; wake 90ms");
}

TEST_CASE("a late answer of an attempt that was given up shows that its leaf moves on as well") {
  HedgedSearch silent({{0, 1}, {0, 2}, {3}});
  silent.start();
  CHECK(silent.wakes(10ms) == "send 3 P0 L1 hedge; send 4 P1 L2 hedge; wake 90ms");
  HedgedSearch search({{0, 1}, {0, 4}, {3}});
  search.start();
  CHECK(search.fails(0, AttemptFailure::failed, 1ms) == "send 3 P0 L1 retry");
  CHECK(search.answers(0, 6ms, done_after(0ms, 6ms)) == "merge; cancel 3");  // failed, and answered after all
  CHECK(search.wakes(10ms) == "wake 16ms");
  CHECK(search.wakes(16ms) == "send 4 P1 L4 hedge; wake 90ms");
}

TEST_CASE("a retry takes the place of the attempt that failed, and its silence begins with it") {
  HedgedSearch search({{0, 1, 2}});
  search.start();
  CHECK(search.fails(0, AttemptFailure::failed, 6ms) == "send 1 P0 L1 retry");
  CHECK(search.wakes(10ms) == "wake 16ms");
  CHECK(search.wakes(16ms) == "send 2 P0 L2 hedge; wake 26ms");
  CHECK(search.wakes(26ms) == "wake 90ms");  // nobody is left to be asked
}

TEST_CASE("there is no hedge without a replica that was not asked and is up, and none is paid for") {
  HedgedSearch search({{0, 1}, {2}});
  search.replica_choice.on_leaf_down(leaf(1));
  search.start();
  const double before = tokens(search.policies);
  CHECK(search.wakes(10ms) == "wake 90ms");
  CHECK(tokens(search.policies) == before);
}

TEST_CASE("no hedge is sent at or after the search's end (trap 4)") {
  HedgedSearch search({{0, 1}}, 90ms);
  CHECK(search.start() == "send 0 P0 L0 primary; wake 90ms");
  CHECK(search.wakes(90ms) == "cancel 0; finish deadline");
}

TEST_CASE("after two leaves were lost with the query, it is not hedged") {
  HedgedSearch search({{0, 1}, {2}, {3}});
  search.start();
  search.fails(1, AttemptFailure::unreachable, 1ms);
  search.fails(2, AttemptFailure::unreachable, 1ms);
  CHECK(search.wakes(10ms) == "wake 90ms");
}

TEST_CASE("a hedge that is refused is not repeated while the real attempt runs, and one that fails otherwise is") {
  for (const auto& [failure, actions] : {std::pair(AttemptFailure::refused, ""),
                                         std::pair(AttemptFailure::failed, "send 2 P0 L2 retry")}) {
    HedgedSearch search({{0, 1, 2}});
    search.start();
    search.wakes(10ms);
    CHECK(search.fails(1, failure, 11ms) == actions);
    CHECK(search.fanout->state_of(0) == PartitionState::waiting);
  }
}

TEST_CASE("a hedge goes on when the attempt that it followed fails for good") {
  HedgedSearch search({{0, 1}});
  search.start();
  search.wakes(10ms);
  CHECK(search.fails(0, AttemptFailure::failed, 12ms) == "");
  CHECK(search.answers(1, 14ms) == "merge; finish complete");
}

TEST_CASE("the time that a superseded loser had been under way counts as a latency of at least so much (trap 22)") {
  HedgedSearch search({{0, 1}});
  search.start();
  search.wakes(10ms);
  search.answers(1, 14ms);
  const LatencyCurve curve = search.policies.latencies.all(at(15ms));
  CHECK(curve.answered == 1);
  CHECK(curve.given_up == 1);
  // The answer took 4 ms; of the two, the other took longer than anything known.
  CHECK(curve.unanswered_after(5ms) == doctest::Approx(0.5));
  CHECK(curve.quantile(0.9) == LatencyModel::longer_than_known);
}

TEST_CASE("further delays ask further replicas, and a probability leaves partitions out, drawn once for each") {
  const HedgePlan plan{.delays = {5ms, 12ms}, .probability = 0.3};
  int chosen = 0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    HedgeSchedule schedule(plan, 1, seed);
    schedule.watch(0, 0, at(0ms));
    CHECK(schedule.next() == at(5ms));
    CHECK_FALSE(schedule.take_due(at(4ms)).has_value());
    const auto due = schedule.take_due(at(5ms));
    REQUIRE(due.has_value());
    CHECK(schedule.is_over(*due, at(0ms), at(5ms)));
    CHECK_FALSE(schedule.is_over(*due, at(1ms), at(5ms)));
    chosen += schedule.draw() ? 1 : 0;
    schedule.watch(0, due->step + 1, at(0ms));
    CHECK(schedule.next() == at(12ms));
    schedule.watch(0, 2, at(0ms));  // there is no third delay
    CHECK(schedule.watched() == 1);
  }
  CHECK(chosen > 520);  // 600 with a standard deviation of 20
  CHECK(chosen < 680);
}

TEST_CASE("what is due comes earliest first, and what is forgotten does not come") {
  HedgeSchedule schedule({.delays = {10ms}}, 5, 1);
  for (const std::uint32_t partition : {4u, 2u, 0u, 3u, 1u}) schedule.watch(partition, 0, at(1ms * partition));
  schedule.forget_if([](std::uint32_t partition) { return partition == 2; });
  std::vector<std::uint32_t> order;
  while (const auto due = schedule.take_due(at(20ms))) order.push_back(due->partition);
  CHECK(order == std::vector<std::uint32_t>{0, 1, 3, 4});
}

}  // namespace hedgerow::policy
