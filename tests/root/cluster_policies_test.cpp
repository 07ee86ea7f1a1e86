// The small policies that all queries share: latency model, attempt budget, replica choice, retry.

#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "policy_fixture.hpp"
#include "root/policy/query/retry.hpp"

namespace hedgerow::policy {

TEST_CASE("the latency model's quantiles are those of the sorted samples, within its precision") {
  Random random(7);
  LatencyModel model(10s);
  std::vector<double> samples;
  for (int i = 0; i < 5000; ++i) {
    const double milliseconds = 0.05 + random.exponential(8);
    samples.push_back(milliseconds);
    model.record(from_milliseconds(milliseconds), at(1ms * i));
  }
  std::sort(samples.begin(), samples.end());
  for (const double quantile : {0.01, 0.5, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    CAPTURE(quantile);
    const auto rank = static_cast<std::size_t>(std::ceil(quantile * 5000)) - 1;
    // Buckets of 1.6 %, and microseconds.
    CHECK(to_milliseconds(*model.quantile(quantile, at(5s))) == doctest::Approx(samples[rank]).epsilon(0.017));
  }
}

TEST_CASE("the latency model knows nothing at first, and nothing again after two windows of silence") {
  LatencyModel model(10s);
  CHECK_FALSE(model.quantile(0.5, at(0s)).has_value());
  model.record(5ms, at(0s));
  CHECK(model.quantile(0.5, at(1s)).has_value());
  CHECK(model.samples(at(19999ms)) == 1);
  CHECK(model.samples(at(20s)) == 0);
  CHECK_FALSE(model.quantile(0.5, at(20s)).has_value());
}

TEST_CASE("every sample counts for at least one window and is forgotten after two, however irregular the calls are") {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    LatencyModel model(10s);
    Instant now = at(0s);
    model.record(1ms, now);  // starts the first window
    std::vector<Instant> recorded{now};
    for (int step = 0; step < 30; ++step) {
      now += from_milliseconds(random.uniform() * (random.chance(0.2) ? 25'000 : 4'000));
      if (random.chance(0.5)) {
        model.record(1ms, now);
        recorded.push_back(now);
      }
      std::uint64_t certainly = 0, possibly = 0;
      for (const auto then : recorded) {
        certainly += now - then < 10s ? 1 : 0;
        possibly += now - then < 20s ? 1 : 0;
      }
      const auto samples = model.samples(now);
      CAPTURE(round);
      CAPTURE(step);
      REQUIRE(samples >= certainly);
      REQUIRE(samples <= possibly);
    }
  }
}

TEST_CASE("a negative latency counts as none, and one of hours as a minute") {
  LatencyModel model;
  model.record(-5ms, at(0s));
  CHECK(*model.quantile(1, at(0s)) == 0ms);
  model.record(3h, at(0s));
  CHECK(*model.quantile(1, at(0s)) == 60s);
}

TEST_CASE("the attempt budget gives its depth at once, its fill in the long run, and never saves more than its depth") {
  AttemptBudget budget(0.05, 3);
  CHECK(budget.take());
  CHECK(budget.take());
  CHECK(budget.take());
  CHECK_FALSE(budget.take());
  CHECK(budget.refused() == 1);

  int granted = 0;
  for (int i = 0; i < 10'000; ++i) {
    budget.on_primary();
    granted += budget.take() ? 1 : 0;
  }
  CHECK(granted >= 499);
  CHECK(granted <= 500);

  for (int i = 0; i < 10'000; ++i) budget.on_primary();
  CHECK(budget.tokens() == doctest::Approx(3));
}

TEST_CASE("the attempt budget fills more slowly where only a share of its fill is granted, and changes live") {
  AttemptBudget budget(0.1, 10);
  for (int i = 0; i < 10; ++i) CHECK(budget.take());
  CHECK_FALSE(budget.take());
  for (int i = 0; i < 100; ++i) budget.on_primary(0.25);
  CHECK(budget.tokens() == doctest::Approx(2.5));
  budget.on_primary(0);
  CHECK(budget.tokens() == doctest::Approx(2.5));
  budget.set(0.5, 2);
  CHECK(budget.tokens() == doctest::Approx(2));
  budget.set(0.5, 20);
  for (int i = 0; i < 10; ++i) budget.on_primary();
  CHECK(budget.tokens() == doctest::Approx(7));
}

TEST_CASE("the replica with the fewest attempts in flight is chosen") {
  PolicyFixture cluster;
  cluster.busy(0, 3);
  cluster.busy(1, 1);
  cluster.busy(2, 2);
  const std::array replicas{leaf(0), leaf(1), leaf(2)};
  const std::array tried_one{leaf(1)};
  const std::array tried_two{leaf(1), leaf(2)};
  CHECK(cluster.replica_choice.choose(replicas, {}) == leaf(1));
  CHECK(cluster.replica_choice.choose(replicas, tried_one) == leaf(2));
  CHECK(cluster.replica_choice.choose(replicas, tried_two) == leaf(0));
  CHECK(cluster.replica_choice.choose(replicas, replicas) == std::nullopt);
  cluster.replica_choice.on_ended(leaf(0));
  cluster.replica_choice.on_ended(leaf(0));
  cluster.replica_choice.on_ended(leaf(0));
  CHECK(cluster.replica_choice.choose(replicas, {}) == leaf(0));
}

TEST_CASE("a leaf that is down, or that nobody has heard of, is never chosen") {
  PolicyFixture cluster(3);
  cluster.busy(1, 5);
  cluster.replica_choice.on_leaf_down(leaf(0));
  const std::array replicas{leaf(0), leaf(1), leaf(77)};
  CHECK(cluster.replica_choice.choose(replicas, {}) == leaf(1));
  CHECK_FALSE(cluster.replica_choice.is_up(leaf(77)));
  CHECK(cluster.replica_choice.in_flight(leaf(77)) == 0);
  cluster.replica_choice.on_leaf_up(leaf(0));
  CHECK(cluster.replica_choice.choose(replicas, {}) == leaf(0));
}

TEST_CASE("ties are spread evenly, wherever the equals stand") {
  PolicyFixture cluster(5);
  cluster.busy(1, 1);
  cluster.busy(3, 1);
  const std::array replicas{leaf(1), leaf(0), leaf(3), leaf(2), leaf(4)};
  std::array<int, 5> chosen{};
  constexpr int rounds = 30'000;
  for (int i = 0; i < rounds; ++i) ++chosen[cluster.replica_choice.choose(replicas, {})->value];
  CHECK(chosen[1] == 0);
  CHECK(chosen[3] == 0);
  // Three equals: 10,000 each, with a standard deviation of 82.
  for (const auto number : {0, 2, 4}) {
    CHECK(chosen[static_cast<std::size_t>(number)] > 9'600);
    CHECK(chosen[static_cast<std::size_t>(number)] < 10'400);
  }
}

TEST_CASE("a retry is judged by failure, replicas, time and budget, in that order") {
  struct Row {
    AttemptFailure failure;
    bool has_replica;
    Duration now;
    double tokens;
    RetryVerdict verdict;
  };
  using enum AttemptFailure;
  const Row rows[] = {
      {refused, true, 5ms, 1, RetryVerdict::retry},        {unreachable, true, 5ms, 1, RetryVerdict::retry},
      {failed, true, 5ms, 1, RetryVerdict::retry},         {failed, true, 5ms, 0, RetryVerdict::over_budget},
      {failed, true, 10ms, 1, RetryVerdict::too_late},     {failed, true, 11ms, 1, RetryVerdict::too_late},
      {expired, true, 5ms, 1, RetryVerdict::too_late},     {failed, false, 5ms, 1, RetryVerdict::pointless},
      {bad_query, true, 5ms, 1, RetryVerdict::pointless},  {bad_query, false, 15ms, 0, RetryVerdict::pointless},
  };
  for (const Row& row : rows) {
    CAPTURE(static_cast<int>(row.failure));
    CAPTURE(format_duration(row.now));
    AttemptBudget budget(0, row.tokens);
    CHECK(judge_retry(row.failure, row.has_replica, at(10ms), at(row.now), budget) == row.verdict);
    const bool paid = row.verdict == RetryVerdict::retry;
    CHECK(budget.tokens() == (paid ? 0 : row.tokens));
    CHECK(budget.refused() == (row.verdict == RetryVerdict::over_budget ? 1 : 0));
  }
}

}  // namespace hedgerow::policy
