// Which replica is asked: in tables, and in closed simulations of leaves that differ in speed.

#include "root/policy/cluster/replica_choice.hpp"

#include <doctest/doctest.h>

#include <array>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

constexpr ReplicaChoiceSettings prequal{.mode = ReplicaChoiceSettings::Mode::prequal};

// Leaves that are up; said says what each answered with.
struct Choice : ReplicaChoice {
  explicit Choice(std::uint32_t leaves, std::uint64_t seed = 1) : ReplicaChoice(Random(seed), prequal) {
    for (std::uint32_t i = 0; i < leaves; ++i) on_leaf_up(leaf(i));
  }
  void answered(std::uint32_t number, Duration latency, Instant now, std::uint32_t told = 0, int times = 1) {
    for (int i = 0; i < times; ++i) on_answered(leaf(number), latency, {.queued = told}, now);
  }
  void busy(std::uint32_t number, int attempts) {
    for (int i = 0; i < attempts; ++i) on_sent(leaf(number));
  }
  // How many of a thousand choices fall on each of the leaves.
  std::vector<int> shares(const std::vector<LeafId>& replicas) {
    std::vector<int> chosen(8, 0);
    for (int i = 0; i < 1000; ++i) ++chosen[choose(replicas, {})->value];
    return chosen;
  }
};

const std::vector<LeafId> three{leaf(0), leaf(1), leaf(2)};

}  // namespace

TEST_CASE("of replicas that are not hot the fastest is taken") {
  Choice choice(3);
  choice.answered(0, 20ms, at(0ms));
  choice.answered(1, 8ms, at(0ms));
  choice.answered(2, 20ms, at(0ms));
  CHECK(choice.shares(three)[1] == 1000);
}

TEST_CASE("latencies that hardly differ count as equal, and the least loaded of them is taken") {
  Choice choice(3);
  choice.answered(0, 10ms, at(0ms), 3);
  choice.answered(1, 12ms, at(0ms), 1);
  choice.answered(2, 11ms, at(0ms), 2);
  CHECK(choice.shares(three)[1] == 1000);
}

TEST_CASE("a fast replica that is hot is left, by what it told or by what is in flight here") {
  for (const bool told : {true, false}) {
    Choice choice(8);
    for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, i == 0 ? 5ms : 12ms, at(0ms), told && i == 0 ? 30 : 1);
    if (!told) choice.busy(0, 30);
    const auto shares = choice.shares(three);
    CHECK(shares[0] == 0);
    CHECK(shares[1] > 400);  // equals, at random
    CHECK(shares[2] > 400);
  }
}

TEST_CASE("where all are hot, the least loaded is taken") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 10ms, at(0ms), i < 3 ? 20 + i : 1);
  CHECK(choice.shares(three)[0] == 1000);
}

TEST_CASE("a leaf that is slow against most comes last, whatever its load, and is taken where nobody else is left") {
  Choice choice(8);
  for (std::uint32_t i = 1; i < 8; ++i) choice.answered(i, 8ms, at(0ms), 5);
  choice.answered(0, 8ms, at(0ms));
  choice.shares(three);  // has looked around
  choice.answered(0, 208ms, at(1ms), 0, 30);
  CHECK(choice.is_slow(leaf(0)));
  CHECK(choice.shares(three)[0] == 0);
  const std::vector<LeafId> tried{leaf(1), leaf(2)};
  CHECK(choice.choose(three, tried) == leaf(0));
}

TEST_CASE("one slow answer changes little, ten in a row are known, and one in time is not recovery (trap 25)") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 8ms, at(0ms));
  choice.shares(three);
  choice.answered(0, 500ms, at(1ms));
  CHECK_FALSE(choice.is_slow(leaf(0)));
  CHECK(to_milliseconds(*choice.latency(leaf(0))) < 9);
  choice.answered(0, 500ms, at(1ms), 0, 12);
  CHECK(choice.is_slow(leaf(0)));
  // An hour of silence makes the next one count for nearly all that was before.
  choice.answered(0, 8ms, at(1h));
  CHECK(choice.is_slow(leaf(0)));
  choice.answered(0, 8ms, at(1h + 1s));
  CHECK_FALSE(choice.is_slow(leaf(0)));
}

TEST_CASE("attempts that hedges cut short show a slow leaf as well as answers do (trap 22)") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 8ms, at(0ms));
  choice.shares(three);
  // Silent at 12 ms, given up at 18 ms, time and again: below what counts as slow, which is 24 ms.
  for (int i = 0; i < 10; ++i) {
    choice.on_unanswered(leaf(0), 12ms, at(1ms * i));
    choice.on_unanswered(leaf(0), 18ms, at(1ms * i));
  }
  CHECK(choice.is_slow(leaf(0)));
  // And what was cut short before it was late says nothing.
  for (int i = 0; i < 100; ++i) choice.on_unanswered(leaf(1), 5ms, at(1ms * i));
  CHECK(*choice.latency(leaf(1)) == 8ms);
}

TEST_CASE("a leaf that fails at once does not look fast, however few it has in flight") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 8ms, at(0ms), 2);
  choice.shares(three);
  choice.on_failed(leaf(0), at(1ms));
  choice.on_failed(leaf(0), at(2ms));
  CHECK(choice.is_slow(leaf(0)));
  CHECK(choice.shares(three)[0] == 0);
  for (int i = 0; i < 1000; ++i) choice.on_failed(leaf(0), at(1ms * i));
  CHECK(*choice.latency(leaf(0)) <= 1s);  // so that it can come back
}

TEST_CASE("a leaf that refuses for load is hot until it answers, and not slow") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 8ms, at(0ms), 2);
  choice.shares(three);
  choice.on_refused(leaf(0));
  CHECK_FALSE(choice.is_slow(leaf(0)));
  CHECK(choice.shares(three)[0] == 0);
  choice.answered(0, 8ms, at(1ms), 2);
  CHECK(choice.shares(three)[0] > 250);
}

TEST_CASE("a leaf without history gets a careful share: few at once until it has answered") {
  Choice choice(8);
  for (std::uint32_t i = 1; i < 8; ++i) choice.answered(i, 8ms, at(0ms), 3);
  int sent = 0;
  for (int i = 0; i < 100; ++i) {
    if (choice.choose(three, {}) != leaf(0)) continue;
    choice.on_sent(leaf(0));
    ++sent;
  }
  CHECK(sent == 2);
  choice.on_ended(leaf(0));
  choice.answered(0, 8ms, at(1ms), 0);
  CHECK(choice.choose(three, {}) == leaf(0));
}

TEST_CASE("a leaf that comes up again has no history") {
  Choice choice(3);
  choice.answered(0, 500ms, at(0ms));
  choice.on_leaf_down(leaf(0));
  choice.on_leaf_up(leaf(0));
  CHECK_FALSE(choice.latency(leaf(0)).has_value());
}

TEST_CASE("a leaf of which nothing was heard for a while is probed, once in that while, and never one that has work") {
  Choice choice(3);
  CHECK_FALSE(choice.choose_probe(three, {}, at(10s)).has_value());  // without history it gets its share by choice
  for (std::uint32_t i = 0; i < 3; ++i) choice.answered(i, 8ms, at(0ms));
  choice.answered(1, 8ms, at(9500ms));
  choice.busy(2, 1);
  CHECK_FALSE(choice.choose_probe(three, {}, at(999ms)).has_value());
  CHECK(choice.choose_probe(three, {}, at(10s)) == leaf(0));
  CHECK_FALSE(choice.choose_probe(three, {}, at(10400ms)).has_value());
  CHECK(choice.choose_probe(three, {}, at(10501ms)) == leaf(1));
  const std::vector<LeafId> tried{leaf(0)};
  CHECK_FALSE(choice.choose_probe(three, tried, at(11200ms)).has_value());
  CHECK(choice.choose_probe(three, {}, at(11200ms)) == leaf(0));
}

TEST_CASE("probes are at most a small share of the choices, after a burst") {
  Choice choice(3);
  for (std::uint32_t i = 0; i < 3; ++i) choice.answered(i, 8ms, at(0ms));
  int probes = 0;
  for (int i = 0; i < 20; ++i) probes += choice.choose_probe(three, {}, at(10s * (1 + i))) ? 1 : 0;
  CHECK(probes == 10);
  for (int i = 0; i < 1001; ++i) choice.choose(three, {});
  for (int i = 0; i < 20; ++i) probes += choice.choose_probe(three, {}, at(1000s + 10s * i)) ? 1 : 0;
  CHECK(probes == 20);
}

TEST_CASE("random and least-in-flight neither judge nor probe") {
  using Mode = ReplicaChoiceSettings::Mode;
  for (const auto mode : {Mode::random, Mode::least_in_flight}) {
    ReplicaChoice choice(Random(1), {.mode = mode});
    for (std::uint32_t i = 0; i < 3; ++i) choice.on_leaf_up(leaf(i));
    choice.on_answered(leaf(0), 500ms, {}, at(0ms));
    choice.on_answered(leaf(1), 5ms, {}, at(0ms));
    choice.on_sent(leaf(2));
    std::array<int, 3> chosen{};
    for (int i = 0; i < 3000; ++i) ++chosen[choice.choose(three, {})->value];
    CHECK(chosen[0] > 900);
    CHECK((mode == Mode::random ? chosen[2] > 900 : chosen[2] == 0));
    CHECK_FALSE(choice.choose_probe(three, {}, at(1h)).has_value());
  }
}

}  // namespace hedgerow::policy
