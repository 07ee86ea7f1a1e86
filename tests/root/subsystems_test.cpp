// One query's optional subsystems, as timelines on a manual clock. The query begins at 0 and must end at 100 ms.
#include "root/policy/query/subsystems.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

constexpr auto spelling = SubsystemKind::spelling;
constexpr auto snippets = SubsystemKind::snippets;
constexpr auto facets = SubsystemKind::facets;

struct Life : PolicyFixture {
  SubsystemModels models;
  std::unique_ptr<Subsystems> query;

  explicit Life(std::optional<Duration> grace = std::nullopt) {
    query = std::make_unique<Subsystems>(at(100ms), grace, replica_choice, models);
  }
  // So many calls of late took so long.
  void lately(SubsystemKind kind, Duration took, int times = 50) {
    for (int i = 0; i < times; ++i) models[static_cast<std::size_t>(kind)].on_answered(took, false, at(0ms));
  }
  // Parts that all of these leaves can do.
  std::string starts(SubsystemKind kind, std::size_t parts, const std::vector<std::uint32_t>& leaves, Duration now = 0ms) {
    std::vector<Subsystems::Part> list(parts);
    for (auto& part : list) {
      for (const auto number : leaves) part.replicas.push_back(leaf(number));
    }
    Actions actions = query->add(kind, std::move(list), at(now));
    const Actions closing = query->close(kind, at(now));
    actions.insert(actions.end(), closing.begin(), closing.end());
    return described(actions);
  }
  std::string answers(std::uint32_t attempt, Duration now) {
    const auto verdict = query->on_answer(AttemptId{attempt}, at(now));
    std::string text = "take";
    for (const auto place : verdict.take) text += " " + std::to_string(place);
    const std::string actions = described(verdict.actions);
    return text + (actions.empty() ? "" : "; " + actions);
  }
  std::string fails(std::uint32_t attempt, AttemptFailure failure, Duration now) {
    return described(query->on_failure(AttemptId{attempt}, failure, at(now)));
  }
  std::string settles(Duration now) { return described(query->settle(at(now))); }
  std::string wakes(Duration now) { return described(query->on_wake(at(now))); }
  std::string status(SubsystemKind kind) { return std::string(to_string(query->status(kind))); }
  std::uint32_t in_flight() const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 8; ++i) sum += replica_choice.in_flight(leaf(i));
    return sum;
  }
};

}  // namespace

TEST_CASE("what is answered before hits and titles are final is ok, and costs no wait") {
  Life life;
  CHECK(life.starts(spelling, 1, {1}) == "ask 0 spelling L1 of 0");
  CHECK(life.starts(facets, 3, {2}) == "ask 1 facets L2 of 0 1 2");
  CHECK(life.answers(0, 2ms) == "take 0");
  CHECK(life.answers(1, 3ms) == "take 0 1 2");
  CHECK(life.settles(8ms) == "finish complete");
  CHECK(life.status(spelling) == "ok");
  CHECK(life.status(facets) == "ok");
  CHECK(life.status(snippets) == "off");
  CHECK(life.query->duration(spelling) == 2ms);
  CHECK(life.query->duration(facets) == 3ms);
  CHECK(life.in_flight() == 0);
}

TEST_CASE("a kind with nothing to do is ok at once, and one that nobody can do has failed at once") {
  Life life;
  CHECK(life.starts(spelling, 0, {}) == "");
  CHECK(life.status(spelling) == "ok");
  life.replica_choice.on_leaf_down(leaf(1));
  CHECK(life.starts(facets, 2, {1}) == "");
  CHECK(life.status(facets) == "failed");
  CHECK(life.settles(5ms) == "finish complete");
}

TEST_CASE("what of late takes longer than the time that is left is skipped, not started") {
  Life life;
  life.lately(spelling, 120ms);
  life.models[0].judge_start(0ms, at(0ms));  // the one that is let through
  CHECK(life.starts(spelling, 1, {1}, 1ms) == "");
  CHECK(life.status(spelling) == "skipped");
  life.lately(facets, 60ms);
  CHECK(life.starts(facets, 1, {1}, 30ms) == "ask 0 facets L1 of 0");  // 70 ms are left
}

TEST_CASE("nothing known: it is waited for until the grace is over, and then late") {
  Life life;
  life.starts(spelling, 1, {1});
  CHECK(life.settles(8ms) == "wake 13ms");
  CHECK(life.wakes(12ms) == "wake 13ms");
  CHECK(life.wakes(13ms) == "cancel 0; finish complete");
  CHECK(life.status(spelling) == "late");
  CHECK(life.query->duration(spelling) == 13ms);
  CHECK(life.in_flight() == 0);
  CHECK(life.answers(0, 14ms) == "take");
  CHECK(life.fails(0, AttemptFailure::failed, 14ms) == "");
  CHECK(life.status(spelling) == "late");
}

TEST_CASE("it is waited for where it is expected within the grace, and only then") {
  struct Row {
    std::string what;
    Duration lately, sent, final;
    bool waited;
  };
  const Row rows[] = {
      {"due in 2 ms", 10ms, 0ms, 8ms, true},
      {"due in 4 ms", 12ms, 0ms, 8ms, true},
      {"due in 6 ms", 14ms, 0ms, 8ms, false},
      {"overdue", 6ms, 0ms, 8ms, false},
      {"the same, but sent later", 6ms, 4ms, 8ms, true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    Life life;
    life.lately(snippets, row.lately);
    life.starts(snippets, 1, {1}, row.sent);
    CHECK(life.settles(row.final) == (row.waited ? "wake 13ms" : "cancel 0; finish complete"));
    if (row.waited) CHECK(life.answers(0, 10ms) == "take 0; finish complete");
    CHECK(life.status(snippets) == (row.waited ? "ok" : "late"));
  }
}

TEST_CASE("no wait goes beyond the deadline, and at the deadline there is none") {
  Life life;
  life.starts(spelling, 1, {1});
  CHECK(life.settles(98ms) == "wake 100ms");
  CHECK(life.wakes(100ms) == "cancel 0; finish complete");
  Life over;
  over.starts(spelling, 1, {1});
  CHECK(over.settles(100ms) == "cancel 0; finish complete");
  CHECK(over.status(spelling) == "late");
  Life begun_late;
  CHECK(begun_late.starts(spelling, 1, {1}, 100ms) == "");
  CHECK(begun_late.status(spelling) == "skipped");
}

TEST_CASE("a grace of the asker's own is waited out, whatever is expected, up to the deadline") {
  Life life(50ms);
  life.lately(facets, 60ms);
  life.starts(facets, 1, {1});
  CHECK(life.settles(8ms) == "wake 58ms");
  Life longer(1h);
  longer.starts(facets, 1, {1});
  CHECK(longer.settles(8ms) == "wake 100ms");
  Life none(0ms);
  none.starts(facets, 1, {1});
  CHECK(none.settles(8ms) == "cancel 0; finish complete");
}

TEST_CASE("a failure goes to another replica, and to none when the time is over, the query is at fault, or none is left") {
  Life life;
  CHECK(life.starts(facets, 2, {3}) == "ask 0 facets L3 of 0 1");
  CHECK(life.fails(0, AttemptFailure::failed, 1ms) == "");
  CHECK(life.status(facets) == "failed");

  Life replicated;
  replicated.busy(2, 1);
  CHECK(replicated.starts(facets, 2, {1, 2}) == "ask 0 facets L1 of 0 1");
  CHECK(replicated.fails(0, AttemptFailure::refused, 1ms) == "ask 1 facets L2 of 0 1");
  CHECK(replicated.answers(1, 2ms) == "take 0 1");
  CHECK(replicated.status(facets) == "ok");

  Life at_fault;
  at_fault.starts(facets, 1, {1, 2});
  CHECK(at_fault.fails(0, AttemptFailure::bad_query, 1ms) == "");
  CHECK(at_fault.status(facets) == "failed");

  Life expired;
  expired.starts(facets, 1, {1, 2});
  CHECK(expired.fails(0, AttemptFailure::expired, 1ms) == "");
  CHECK(expired.status(facets) == "late");
}

TEST_CASE("a part that fails is asked again by itself, and each part counts once") {
  Life life;
  life.busy(2, 1);
  CHECK(life.starts(facets, 3, {1, 2}) == "ask 0 facets L1 of 0 1 2");
  CHECK(life.query->on_answer(AttemptId{0}, 0, at(1ms)).take == std::vector<std::size_t>{0});
  CHECK(life.query->on_answer(AttemptId{0}, 0, at(1ms)).take.empty());
  CHECK(described(life.query->on_failure(AttemptId{0}, 1, AttemptFailure::failed, at(1ms))) == "ask 1 facets L2 of 1");
  CHECK(life.query->on_answer(AttemptId{0}, 2, at(2ms)).take == std::vector<std::size_t>{2});
  CHECK(life.answers(1, 3ms) == "take 1");
  CHECK(life.status(facets) == "ok");
  CHECK(life.in_flight() == 1);  // that which keeps leaf 2 busy
}

TEST_CASE("retries have a budget of their own") {
  Life life;
  auto& budget = life.models[static_cast<std::size_t>(spelling)].retries();
  while (budget.take()) {
  }
  life.starts(spelling, 1, {1, 2});
  CHECK(life.fails(0, AttemptFailure::failed, 1ms) == "");
  CHECK(life.status(spelling) == "failed");
}

TEST_CASE("a snippet is asked of the leaf that delivers the hit, where it is up, and one of no final hit is not missed") {
  Life life;
  life.busy(1, 5);
  std::vector<Subsystems::Part> early{{{leaf(0), leaf(1)}, leaf(1)}, {{leaf(0), leaf(1)}, leaf(1)}};
  CHECK(described(life.query->add(snippets, early, at(50ms))) == "ask 0 snippets L1 of 0 1");
  life.query->drop(snippets, 1);
  life.replica_choice.on_leaf_down(leaf(1));
  std::vector<Subsystems::Part> late{{{leaf(0), leaf(1)}, leaf(1)}};
  CHECK(described(life.query->add(snippets, late, at(60ms))) == "ask 1 snippets L0 of 2");
  CHECK(described(life.query->close(snippets, at(60ms))) == "");
  CHECK(life.answers(0, 61ms) == "take 0");
  CHECK(life.answers(1, 62ms) == "take 2");
  CHECK(life.status(snippets) == "ok");
}

TEST_CASE("what failed fast says nothing of how long the work takes, and what was late says that it takes at least so long") {
  Life life;
  for (int i = 0; i < 20; ++i) {
    Life::PolicyFixture fixture;
    Subsystems query(at(100ms), std::nullopt, fixture.replica_choice, life.models);
    query.add(spelling, {{{leaf(1)}, std::nullopt}}, at(0ms));
    query.close(spelling, at(0ms));
    query.on_failure(AttemptId{0}, AttemptFailure::failed, at(1ms));
  }
  CHECK(life.models[0].samples(at(1ms)) == 0);
  life.starts(spelling, 1, {1});
  life.settles(8ms);
  life.wakes(13ms);
  CHECK(life.models[0].samples(at(13ms)) == 1);
  CHECK(life.models[0].expected(at(13ms)) == LatencyModel::longer_than_known);
}

TEST_CASE("a speller that becomes 300 ms late costs a handful of waits, and then nothing, whatever the deadline") {
  for (const Duration deadline : {250ms, 1000ms}) {
    CAPTURE(format_duration(deadline));
    PolicyFixture cluster;
    SubsystemModels models;
    Instant now = at(0ms);
    int waits = 0, in_time = 0;
    const auto one_query = [&](Duration spelling_takes) {
      Subsystems query(now + deadline, std::nullopt, cluster.replica_choice, models);
      query.add(spelling, {{{leaf(1)}, std::nullopt}}, now);
      query.close(spelling, now);
      if (spelling_takes < 8ms && query.status(spelling) != SubsystemStatus::skipped) {
        query.on_answer(AttemptId{0}, now + spelling_takes);
      }
      const bool waited = !all_of<WakeAt>(query.settle(now + 8ms)).empty();
      waits += waited ? 1 : 0;
      if (waited) query.on_wake(now + 13ms);
      in_time += query.status(spelling) == SubsystemStatus::ok ? 1 : 0;
      CHECK(query.finished());
      now += 10ms;
    };
    // From the first query on.
    for (int i = 0; i < 1000; ++i) one_query(300ms);
    CHECK(waits <= 3);
    CHECK(in_time == 0);
    // It recovers with the next one that is let through.
    for (int i = 0; i < 200; ++i) one_query(1ms);
    CHECK(in_time >= 99);
    // And becomes late again: what is overdue by so much is not waited for.
    waits = 0;
    for (int i = 0; i < 1000; ++i) one_query(300ms);
    CHECK(waits == 0);
  }
}

TEST_CASE("what seems about to come and never does is waited for by a quarter of a per cent of the queries, one in twenty seconds, and two at first") {
  PolicyFixture cluster;
  SubsystemModels models;
  int waits = 0;
  for (int i = 0; i < 2000; ++i) {
    const Instant now = at(std::chrono::milliseconds(20 * i));
    for (int k = 0; k < 50; ++k) models[0].on_answered(10ms, false, now);  // of others
    Subsystems query(now + 100ms, std::nullopt, cluster.replica_choice, models);
    query.add(spelling, {{{leaf(1)}, std::nullopt}}, now);
    query.close(spelling, now);
    if (!all_of<WakeAt>(query.settle(now + 8ms)).empty()) {
      ++waits;
      query.on_wake(now + 13ms);
    }
    REQUIRE(query.status(spelling) == SubsystemStatus::late);
  }
  // 2 at first, 5 of 2000 queries, 2 in 40 seconds.
  CHECK(waits >= 7);
  CHECK(waits <= 9);
}

TEST_CASE("a kind whose parts so far are all here goes on until its parts are known") {
  Life life;
  CHECK(described(life.query->add(snippets, {{{leaf(1)}, leaf(1)}}, at(50ms))) == "ask 0 snippets L1 of 0");
  CHECK(life.answers(0, 52ms) == "take 0");
  CHECK(described(life.query->add(snippets, {{{leaf(2)}, leaf(2)}}, at(60ms))) == "ask 1 snippets L2 of 1");
  CHECK(described(life.query->close(snippets, at(60ms))) == "");
  CHECK(life.answers(1, 61ms) == "take 1");
  CHECK(life.status(snippets) == "ok");
}

TEST_CASE("when nobody wants the answer any more, all that is under way is cancelled") {
  Life life;
  life.starts(spelling, 1, {1});
  life.starts(facets, 1, {2});
  CHECK(described(life.query->abandon(at(5ms))) == "cancel 0; cancel 1; finish complete");
  CHECK(life.in_flight() == 0);
  CHECK(life.settles(6ms) == "");
  CHECK(life.starts(snippets, 1, {1}, 6ms) == "");
}

}  // namespace hedgerow::policy
