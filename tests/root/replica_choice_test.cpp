// Which replica is asked: in tables, and in closed simulations of leaves that differ in speed.

#include "root/policy/cluster/replica_choice.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <memory>

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

TEST_CASE("one slow answer changes little, twenty-five in a row are known, and one in time is not recovery (trap 25)") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 8ms, at(0ms));
  choice.shares(three);
  choice.answered(0, 500ms, at(1ms));
  CHECK_FALSE(choice.is_slow(leaf(0)));
  CHECK(to_milliseconds(*choice.latency(leaf(0))) < 9);
  choice.answered(0, 500ms, at(1ms), 0, 24);
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
  for (int i = 0; i < 20; ++i) {
    choice.on_unanswered(leaf(0), 12ms, at(1ms * i));
    choice.on_unanswered(leaf(0), 18ms, at(1ms * i));
  }
  CHECK(choice.is_slow(leaf(0)));
  // And what was cut short before it was late says nothing.
  for (int i = 0; i < 100; ++i) choice.on_unanswered(leaf(1), 5ms, at(1ms * i));
  CHECK(*choice.latency(leaf(1)) == 8ms);
}

TEST_CASE("time in a leaf's queue is load and not slowness, in answers and in what was cut short") {
  Choice choice(8);
  for (std::uint32_t i = 0; i < 8; ++i) choice.answered(i, 8ms, at(0ms));
  choice.shares(three);
  for (int i = 0; i < 100; ++i) {
    choice.on_answered(leaf(0), 48ms, {.queue_time = 40ms, .queued = 9}, at(1ms * i));
    choice.on_unanswered(leaf(0), 47ms, at(1ms * i));
  }
  CHECK_FALSE(choice.is_slow(leaf(0)));
  CHECK(to_milliseconds(*choice.latency(leaf(0))) == doctest::Approx(8));
  choice.on_unanswered(leaf(0), 100ms, at(200ms));
  CHECK(to_milliseconds(*choice.latency(leaf(0))) > 8.3);
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

namespace {

// Queries of twenty partitions, one at each leaf and two copies elsewhere, by one or more roots that do not talk to each
// other. A leaf answers after its own time (and a queue of its own, where it has a worker); hedges are fixed.
class Traffic {
 public:
  struct Leaf {
    Duration late{};
    bool fails = false;
    bool alone = false;  // one worker: what comes at once queues
    Instant free = Instant::min();
    std::uint64_t attempts = 0;
  };

  Traffic(std::size_t roots, std::uint64_t seed) : random_(seed), leaves_(20) {
    for (std::size_t i = 0; i < roots; ++i) {
      SearchPolicySettings settings;
      settings.replica_choice = prequal;
      policies_.push_back(std::make_unique<SearchPolicies>(settings, seed + i));
      for (std::uint32_t l = 0; l < leaves_.size(); ++l) policies_.back()->on_leaf_up(leaf(l));
    }
  }

  Leaf& of(std::uint32_t number) { return leaves_[number]; }

  // A query each interval, so long. Returns the leaf's share of the attempts (each leaf's, were they equal, is 5 %).
  double share_of(std::uint32_t number, Duration time, Duration interval = 20ms) {
    for (Leaf& one : leaves_) one.attempts = 0;
    const Instant end = now_ + time;
    for (; now_ < end; now_ += interval) {
      run_until(now_);
      begin(*policies_[next_root_++ % policies_.size()]);
    }
    std::uint64_t all = 0;
    for (const Leaf& one : leaves_) all += one.attempts;
    return static_cast<double>(leaves_[number].attempts) / static_cast<double>(all);
  }
  // The largest share of any leaf.
  double largest_share() const {
    std::uint64_t all = 0, most = 0;
    for (const Leaf& one : leaves_) {
      all += one.attempts;
      most = std::max(most, one.attempts);
    }
    return static_cast<double>(most) / static_cast<double>(all);
  }

 private:
  using Query = std::shared_ptr<Fanout>;
  struct Event {
    Query query;
    std::optional<AttemptId> attempt;  // none: a wake
    bool failed = false;
    AttemptReport report{};
  };

  void begin(SearchPolicies& policies) {
    std::vector<Fanout::Partition> partitions;
    for (std::uint32_t i = 0; i < 20; ++i) {
      partitions.push_back({PartitionId{i}, {leaf(i), leaf((i + 1) % 20), leaf((i + 7) % 20)}});
    }
    Fanout::Settings settings;
    settings.search_end = now_ + 500ms;
    settings.hedge = hedge_after(12ms);
    const auto query = std::make_shared<Fanout>(std::move(partitions), settings, policies);
    perform(query, query->start(now_), now_);
  }

  void perform(const Query& query, const Actions& actions, Instant now) {
    for (const auto& action : actions) {
      if (const auto* wake = std::get_if<WakeAt>(&action)) events_.emplace(wake->at, Event{query, std::nullopt});
      const auto* send = std::get_if<SendAttempt>(&action);
      if (!send) continue;
      Leaf& asked = leaves_[send->leaf.value];
      ++asked.attempts;
      if (asked.fails) {
        events_.emplace(now + 300us, Event{query, send->attempt, true});
        continue;
      }
      const Duration service = from_milliseconds(3 + 7 * random_.uniform());
      const Instant start = asked.alone ? std::max(now, asked.free) : now;
      asked.free = start + service;
      events_.emplace(start + service + asked.late, Event{query, send->attempt, false, {start - now, service}});
    }
  }

  void run_until(Instant end) {
    while (!events_.empty() && events_.begin()->first <= end) {
      const auto event = events_.extract(events_.begin());
      const Instant now = event.key();
      const auto& [query, attempt, failed, report] = event.mapped();
      if (!attempt) {
        perform(query, query->on_wake(now), now);
      } else if (failed) {
        perform(query, query->on_failure(*attempt, AttemptFailure::failed, now), now);
      } else {
        perform(query, query->on_answer(*attempt, report, now).actions, now);
      }
    }
  }

  Random random_;
  std::vector<Leaf> leaves_;
  std::vector<std::unique_ptr<SearchPolicies>> policies_;
  std::multimap<Instant, Event> events_;  // after the policies: what is left of queries goes first
  Instant now_ = at(0ms);
  std::size_t next_root_ = 0;
};

}  // namespace

TEST_CASE("a leaf that is 200 ms late keeps under half a percent of the attempts within seconds, and comes back within seconds") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Traffic traffic(1, seed);
    const double before = traffic.share_of(7, 5s);
    CHECK(before > 0.035);  // 0.05 were they alike
    CHECK(before < 0.065);
    traffic.of(7).late = 200ms;
    traffic.share_of(7, 2s);
    CHECK(traffic.share_of(7, 5s) < 0.005);
    traffic.of(7).late = 0ms;
    traffic.share_of(7, 5s);
    CHECK(traffic.share_of(7, 3s) > 0.025);
  }
}

TEST_CASE("a leaf that fails at once gets few attempts, although nothing is ever in flight there") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Traffic traffic(1, seed);
    traffic.share_of(7, 3s);
    traffic.of(7).fails = true;
    traffic.share_of(7, 1s);
    CHECK(traffic.share_of(7, 5s) < 0.005);
    traffic.of(7).fails = false;
    traffic.share_of(7, 5s);
    CHECK(traffic.share_of(7, 3s) > 0.025);
  }
}

TEST_CASE("three roots that know nothing of each other do not turn to the same leaf (trap 26)") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Traffic traffic(3, seed);
    for (std::uint32_t i = 0; i < 20; ++i) traffic.of(i).alone = true;  // at 20 attempts in 15 ms, some 43 % busy
    traffic.share_of(0, 5s, 15ms);
    traffic.share_of(0, 5s, 15ms);
    CHECK(traffic.largest_share() < 0.08);
  }
}

TEST_CASE("however often every leaf fails, what is known of them stays a time that can be waited for") {
  ReplicaChoice choice(Random(1), {});
  const std::vector<LeafId> replicas{leaf(0), leaf(1), leaf(2)};
  for (const LeafId one : replicas) choice.on_leaf_up(one);
  for (int i = 0; i < 3000; ++i) {
    const auto chosen = choice.choose(replicas, {});
    REQUIRE(chosen.has_value());
    choice.on_failed(*chosen, at(1ms * i));
  }
  for (const LeafId one : replicas) {
    REQUIRE(choice.latency(one).has_value());
    CHECK(*choice.latency(one) <= 60s);
  }
}

}  // namespace hedgerow::policy
