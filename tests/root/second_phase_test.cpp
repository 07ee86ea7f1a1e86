#include "root/policy/query/second_phase.hpp"

#include <doctest/doctest.h>

#include <memory>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

struct Row {
  std::uint32_t found_by;
  std::vector<std::uint32_t> replicas;
};

// The phase begins at 0 and must end at 20 ms.
struct Fetch : PolicyFixture {
  explicit Fetch(const std::vector<Row>& rows, Duration patience = 1h) {
    std::vector<SecondPhase::Hit> hits;
    for (const auto& row : rows) {
      hits.push_back({leaf(row.found_by), {}});
      for (const auto number : row.replicas) hits.back().replicas.push_back(leaf(number));
    }
    phase = std::make_unique<SecondPhase>(std::move(hits), at(20ms), patience, replica_choice);
  }
  std::string start(Duration now = 0ms) { return described(phase->start(at(now))); }
  std::string fails(std::uint32_t attempt, Duration now) { return described(phase->on_failure(AttemptId{attempt}, at(now))); }
  std::string wakes(Duration now) { return described(phase->on_wake(at(now))); }
  // "take 0 2", and the actions.
  std::string answers(std::uint32_t attempt, Duration now) {
    const auto verdict = phase->on_answer(AttemptId{attempt}, at(now));
    std::string text = "take";
    for (const auto place : verdict.take) text += " " + std::to_string(place);
    const std::string actions = described(verdict.actions);
    return text + (actions.empty() ? "" : "; " + actions);
  }
  std::uint32_t in_flight() const {
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 8; ++i) sum += replica_choice.in_flight(leaf(i));
    return sum;
  }

  std::unique_ptr<SecondPhase> phase;
};

}  // namespace

TEST_CASE("every hit is fetched from the leaf that found it, one frame a leaf") {
  Fetch fetch({{1, {0, 1}}, {0, {0, 1}}, {1, {1, 2}}});
  fetch.busy(1, 5);  // busier, and asked all the same: it has the document at hand
  CHECK(fetch.start() == "fetch 0 L0 of 1; fetch 1 L1 of 0 2; wake 10ms");
  CHECK(fetch.answers(1, 2ms) == "take 0 2");
  CHECK(fetch.answers(0, 3ms) == "take 1; finish complete");
  CHECK(fetch.in_flight() == 5);
}

TEST_CASE("a finder that is down is passed over") {
  Fetch fetch({{0, {0, 1}}});
  fetch.replica_choice.on_leaf_down(leaf(0));
  CHECK(fetch.start() == "fetch 0 L1 of 0; wake 10ms");
}

TEST_CASE("a fetch that fails goes to other replicas, each hit to one of its own") {
  Fetch fetch({{0, {0, 1}}, {0, {0, 2}}});
  CHECK(fetch.start() == "fetch 0 L0 of 0 1; wake 10ms");
  CHECK(fetch.fails(0, 1ms) == "fetch 1 L1 of 0; fetch 2 L2 of 1");
  CHECK(fetch.answers(1, 2ms) == "take 0");
  CHECK(fetch.answers(2, 3ms) == "take 1; finish complete");
}

TEST_CASE("silence for half of the time has another replica asked as well, and the first answer counts") {
  Fetch fetch({{0, {0, 1}}, {0, {0, 1}}});
  fetch.start();
  CHECK(fetch.wakes(9ms) == "wake 10ms");
  CHECK(fetch.wakes(10ms) == "fetch 1 L1 of 0 1; wake 20ms");
  SUBCASE("the other replica is first") {
    CHECK(fetch.answers(1, 12ms) == "take 0 1; cancel 0; finish complete");
    CHECK(fetch.answers(0, 13ms) == "take");
  }
  SUBCASE("the finder is first after all") {
    CHECK(fetch.answers(0, 12ms) == "take 0 1; cancel 1; finish complete");
    CHECK(fetch.answers(1, 13ms) == "take");
  }
  SUBCASE("the finder fails, and the other one is waited for") {
    CHECK(fetch.fails(0, 12ms) == "");
    CHECK(fetch.answers(1, 13ms) == "take 0 1; finish complete");
  }
  SUBCASE("both fail") {
    CHECK(fetch.fails(1, 12ms) == "");
    CHECK(fetch.fails(0, 13ms) == "finish exhausted");
    CHECK_FALSE(fetch.phase->has(0));
  }
  CHECK(fetch.phase->finished());
  CHECK(fetch.in_flight() == 0);
}

TEST_CASE("silence for longer than the patience has another replica asked, long before half of the time") {
  Fetch fetch({{0, {0, 1}}}, 3ms);
  CHECK(fetch.start() == "fetch 0 L0 of 0; wake 3ms");
  CHECK(fetch.wakes(3ms) == "fetch 1 L1 of 0; wake 20ms");
  CHECK(fetch.answers(1, 4ms) == "take 0; cancel 0; finish complete");
}

TEST_CASE("what was fetched early is not fetched again, what is no hit any more is not waited for") {
  Fetch fetch(std::vector<Row>{});
  const auto hit = [](std::uint32_t finder) { return SecondPhase::Hit{leaf(finder), {leaf(finder)}}; };
  CHECK(described(fetch.phase->add({hit(0), hit(1), hit(2)}, at(0ms))) == "fetch 0 L0 of 0; fetch 1 L1 of 1; fetch 2 L2 of 2");
  CHECK(fetch.answers(0, 1ms) == "take 0");
  CHECK_FALSE(fetch.phase->finished());
  fetch.phase->drop(2);
  CHECK(described(fetch.phase->add({hit(3)}, at(5ms))) == "fetch 3 L3 of 3");
  CHECK(fetch.start(5ms) == "wake 12500us");
  CHECK(fetch.answers(3, 6ms) == "take 3; cancel 2");
  CHECK(fetch.answers(1, 7ms) == "take 1; finish complete");
  CHECK(fetch.in_flight() == 0);
}

TEST_CASE("when everything was fetched early, the phase is over as it starts") {
  Fetch fetch(std::vector<Row>{});
  fetch.phase->add({{leaf(0), {leaf(0)}}}, at(0ms));
  CHECK(fetch.answers(0, 1ms) == "take 0");
  CHECK(fetch.start(5ms) == "wake 12500us; finish complete");
}

TEST_CASE("a hit whose document came with it is not asked for, and where all did, the phase is over as it starts") {
  Fetch fetch(std::vector<Row>{});
  const SecondPhase::Hit came{leaf(1), {leaf(1)}, true}, to_fetch{leaf(0), {leaf(0)}};
  SUBCASE("some came") {
    CHECK(described(fetch.phase->add({came, to_fetch, came}, at(0ms))) == "fetch 0 L0 of 1");
    CHECK(fetch.start(5ms) == "wake 12500us");
    CHECK(fetch.answers(0, 6ms) == "take 1; finish complete");
  }
  SUBCASE("all came") {
    CHECK(described(fetch.phase->add({came, came}, at(0ms))) == "");
    CHECK(fetch.start(5ms) == "wake 12500us; finish complete");
  }
  SUBCASE("from the beginning") {
    SecondPhase phase({came}, at(20ms), 1h, fetch.replica_choice);
    CHECK(described(phase.start(at(5ms))) == "wake 12500us; finish complete");
  }
  CHECK(fetch.in_flight() == 0);
}

TEST_CASE("an early fetch that failed everywhere leaves the phase exhausted as it starts") {
  Fetch fetch(std::vector<Row>{});
  fetch.phase->add({{leaf(0), {leaf(0), leaf(1)}}}, at(0ms));
  CHECK(fetch.fails(0, 1ms) == "fetch 1 L1 of 0");
  CHECK(fetch.fails(1, 2ms) == "");
  CHECK_FALSE(fetch.phase->finished());
  CHECK(fetch.start(5ms) == "wake 12500us; finish exhausted");
}

TEST_CASE("an early fetch begins two reserves before the search ends, and never in its first half") {
  CHECK(early_fetch_instant(at(0ms), at(90ms), 10ms) == at(70ms));
  CHECK(early_fetch_instant(at(0ms), at(90ms), 40ms) == at(45ms));
}

TEST_CASE("while another replica has been asked, a failure turns to no third one") {
  Fetch fetch({{0, {0, 1, 2}}});
  fetch.busy(2, 1);
  fetch.start();
  CHECK(fetch.wakes(10ms) == "fetch 1 L1 of 0; wake 20ms");
  CHECK(fetch.fails(0, 11ms) == "");
  CHECK(fetch.fails(1, 12ms) == "fetch 2 L2 of 0");
  CHECK(fetch.answers(2, 13ms) == "take 0; finish complete");
}

TEST_CASE("only what is still missing is asked for again") {
  Fetch fetch({{0, {0, 2}}, {1, {1, 2}}});
  fetch.start();
  CHECK(fetch.answers(0, 1ms) == "take 0");
  CHECK(fetch.wakes(10ms) == "fetch 2 L2 of 1; wake 20ms");
}

TEST_CASE("when all stay silent the phase ends at the deadline with what is there") {
  Fetch fetch({{0, {0, 1}}, {2, {2}}});
  fetch.start();
  fetch.wakes(10ms);
  CHECK(fetch.answers(1, 12ms) == "take 1");
  CHECK(fetch.wakes(20ms) == "cancel 0; cancel 2; finish deadline");
  CHECK_FALSE(fetch.phase->has(0));
  CHECK(fetch.phase->has(1));
  CHECK(fetch.in_flight() == 0);
  CHECK(fetch.wakes(21ms) == "");
  CHECK(fetch.answers(0, 21ms) == "take");
  CHECK_FALSE(fetch.phase->has(0));
}

TEST_CASE("nothing is fetched at or after the deadline") {
  Fetch late_start({{0, {0, 1}}});
  CHECK(late_start.start(20ms).find("fetch") == std::string::npos);
  CHECK(late_start.phase->finished());

  Fetch late_failure({{0, {0, 1}}});
  late_failure.start();
  CHECK(late_failure.fails(0, 20ms) == "finish exhausted");
}

TEST_CASE("a hit that nobody can deliver ends the phase without it") {
  Fetch fetch({{0, {0}}, {1, {1}}});
  fetch.start();
  CHECK(fetch.fails(0, 1ms) == "");
  CHECK(fetch.answers(1, 2ms) == "take 1; finish exhausted");
}

TEST_CASE("a second phase that is destroyed early leaves nothing in flight") {
  Fetch fetch({{0, {0, 1}}, {2, {2, 3}}});
  fetch.start();
  fetch.wakes(10ms);
  CHECK(fetch.in_flight() == 4);
  fetch.phase.reset();
  CHECK(fetch.in_flight() == 0);
}

TEST_CASE("the reserve is the recent p99 with air, at least the floor and a share of the whole, at most a quarter of it") {
  const ReserveSettings settings{.floor = 3ms, .air = 1.25, .share = 0.04};
  const auto reserve = [&](Duration total, Duration p99) {
    LatencyModel model;
    for (int i = 0; i < 10; ++i) model.record(p99, at(0ms));
    return second_phase_reserve(total, model, at(1ms), settings);
  };
  LatencyModel empty;
  CHECK(second_phase_reserve(250ms, empty, at(0ms), settings) == 12ms);  // nothing known: four floors
  CHECK(second_phase_reserve(20ms, empty, at(0ms), settings) == 5ms);
  CHECK(reserve(50ms, 1ms) == 3ms);
  CHECK(reserve(250ms, 1ms) == 10ms);
  CHECK(to_milliseconds(reserve(250ms, 20ms)) == doctest::Approx(25).epsilon(0.02));
  CHECK(reserve(250ms, 900ms) == 62500us);
  CHECK(reserve(1ms, 20ms) == 250us);
}

}  // namespace hedgerow::policy
