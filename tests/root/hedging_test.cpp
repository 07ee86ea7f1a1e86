// The cluster's share of hedging on timelines: a small cluster in virtual time without queues, whose leaves answer as the
// paper's do, and load that is told by hand. Expected figures are the closed form's (reference_latencies) or counted.
#include "root/policy/cluster/hedging.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <queue>

#include "policy_fixture.hpp"
#include "reference_latencies.hpp"

namespace hedgerow::policy {

namespace {

// Twenty leaves, three replicas of everything; queries of one partition each arrive at random, 400 in a second, and are
// planned for as if they asked twenty.
struct HedgedCluster {
  explicit HedgedCluster(const HedgeSettings& settings = {}) : hedging(settings, latencies, load) {}

  AttemptLatencies latencies;
  ClusterLoad load;
  Hedging hedging;
  HedgeChoice wanted;
  Random random{3};
  double attempts_per_second = 400;
  std::uint32_t leaves = 20;
  std::size_t replicas = 3;
  // Of an attempt that is sent now; healthy unless a test says otherwise.
  std::function<Duration(LeafId, Instant)> latency = [this](LeafId, Instant) { return usual(); };
  Duration usual() { return from_milliseconds(reference::sample(1 - random.uniform())); }

  struct Query {
    HedgePlan plan;
    LeafId leaf;
    Instant sent;
    bool answered = false;
    struct Attempt {
      LeafId leaf;
      Instant sent;
    };
    std::vector<Attempt> attempts;
  };
  struct Event {
    Instant at;
    enum { arrival, overdue, hedge, answer } kind;
    std::uint64_t query = 0;
    std::size_t attempt = 0;
    bool operator<(const Event& other) const { return at > other.at; }
  };

  Instant now = at(0s);
  std::vector<Query> queries;
  std::priority_queue<Event> events;
  std::uint64_t primaries = 0, hedges = 0;
  std::vector<Duration> took;

  void send(std::uint64_t number, LeafId to) {
    Query& query = queries[number];
    query.attempts.push_back({to, now});
    events.push({now + latency(to, now), Event::answer, number, query.attempts.size() - 1});
  }

  void run(Duration time) {
    const Instant end = now + time;
    if (queries.empty()) events.push({now, Event::arrival});
    primaries = hedges = 0;
    took.clear();
    while (events.top().at < end) {
      const Event event = events.top();
      events.pop();
      now = event.at;
      if (event.kind == Event::arrival) {
        arrive();
        events.push({now + from_milliseconds(random.exponential(1000 / attempts_per_second)), Event::arrival});
        continue;
      }
      Query& query = queries[event.query];
      if (query.answered) continue;
      if (event.kind == Event::overdue) hedging.on_overdue(query.leaf, now);
      if (event.kind == Event::hedge && hedging.take(now)) {
        ++hedges;
        send(event.query, LeafId{(query.leaf.value + static_cast<std::uint32_t>(event.attempt) + 1) % leaves});
      }
      if (event.kind == Event::answer) end_query(query, event.attempt);
    }
    now = end;
  }

  void arrive() {
    ++primaries;
    const std::uint64_t number = queries.size();
    const LeafId to{static_cast<std::uint32_t>(random.below(leaves))};
    queries.push_back({hedging.plan(wanted, 20, replicas, now), to, now, false, {}});
    const HedgePlan plan = queries.back().plan;
    hedging.on_primary(to, now);
    if (random.chance(plan.probability)) {
      for (std::size_t i = 0; i < plan.delays.size(); ++i) events.push({now + plan.delays[i], Event::hedge, number, i});
    }
    if (plan.overdue_after > 0s) events.push({now + plan.overdue_after, Event::overdue, number});
    send(number, to);
  }

  void end_query(Query& query, std::size_t winner) {
    query.answered = true;
    took.push_back(now - query.sent);
    if (winner == 0 && query.plan.overdue_after > 0s && now - query.sent < query.plan.overdue_after) {
      hedging.on_in_time(query.leaf, now);
    }
    for (std::size_t i = 0; i < query.attempts.size(); ++i) {
      const auto& attempt = query.attempts[i];
      if (i == winner) {
        latencies.on_answered(attempt.leaf, now - attempt.sent, now);
      } else {
        latencies.on_given_up(attempt.leaf, now - attempt.sent, now);
      }
    }
  }

  double extra() const { return static_cast<double>(hedges) / static_cast<double>(primaries); }
  Duration quantile(double wanted_quantile) {
    std::sort(took.begin(), took.end());
    return took[static_cast<std::size_t>(wanted_quantile * static_cast<double>(took.size() - 1))];
  }
  // All leaves say so, each a hundred times in 0.6 s.
  void tell_load(Duration queue, Duration service) {
    for (int i = 0; i < 100; ++i) {
      now += 6ms;
      for (std::uint32_t n = 0; n < leaves; ++n) {
        load.on_waited(leaf(n), queue, now);
        load.on_answered(leaf(n), {.queue_time = queue, .service_time = service}, now);
      }
    }
  }
  HedgePlan plan(HedgeChoice choice = {}) { return hedging.plan(choice, 20, replicas, now); }
};

constexpr HedgeChoice fixed(Duration delay) { return {.mode = HedgeChoice::Mode::fixed, .delay = delay}; }
constexpr HedgeChoice p95{.mode = HedgeChoice::Mode::quantile, .quantile = 0.95};
constexpr HedgeChoice off{.mode = HedgeChoice::Mode::off};

}  // namespace

TEST_CASE("the paper's example, and better: 100 partitions, p99.9 at most 30 ms for at most 2.1 % more attempts") {
  // Each query's attempts one after another, in virtual time: a bucket of fill 2.1 % and depth 200 decides.
  HedgeSettings settings;
  settings.budget_fill = 0.021;
  AttemptLatencies latencies;
  ClusterLoad load;
  Hedging hedging(settings, latencies, load);
  Random random(1);
  const auto draw = [&] { return reference::sample(1 - random.uniform()); };
  constexpr int queries = 30'000;
  std::vector<double> took;
  std::uint64_t extra = 0;
  Instant now = at(0s);
  for (int q = 0; q < queries; ++q) {
    now += from_milliseconds(random.exponential(1));
    const HedgePlan plan = hedging.plan({}, 100, 3, now);
    double slowest = 0;
    for (std::uint32_t i = 0; i < 100; ++i) {
      hedging.on_primary(leaf(i), now);
      const double first = draw();
      double answered = first;
      std::vector<std::pair<double, double>> sent;  // after so long, and how long that one takes
      const bool hedged = random.chance(plan.probability);
      for (const Duration delay : plan.delays) {
        const double after = to_milliseconds(delay);
        if (!hedged || answered <= after || !hedging.take(now)) break;
        ++extra;
        sent.emplace_back(after, draw());
        answered = std::min(answered, after + sent.back().second);
      }
      if (plan.overdue_after > 0s && first > to_milliseconds(plan.overdue_after)) hedging.on_overdue(leaf(i), now);
      if (plan.overdue_after > 0s && first <= to_milliseconds(plan.overdue_after)) hedging.on_in_time(leaf(i), now);
      const auto end = [&](std::uint32_t at_leaf, double began, double takes) {
        if (began + takes <= answered) {
          latencies.on_answered(leaf(at_leaf), from_milliseconds(takes), now);
        } else {
          latencies.on_given_up(leaf(at_leaf), from_milliseconds(answered - began), now);
        }
      };
      end(i, 0, first);
      for (std::size_t h = 0; h < sent.size(); ++h) end((i + 1 + static_cast<std::uint32_t>(h)) % 100, sent[h].first, sent[h].second);
      slowest = std::max(slowest, answered);
    }
    took.push_back(slowest);
  }
  std::sort(took.begin(), took.end());
  // 28.7 ms by the closed form; thirty queries are later, so chance makes two percent more or less of it.
  CHECK(took[queries * 999 / 1000] < 30);
  CHECK(static_cast<double>(extra) <= 0.021 * 100 * queries + 200);
  CHECK(static_cast<double>(extra) > 0.019 * 100 * queries);
  CHECK(hedging.obstacle() == HedgeObstacle::none);
  // The bucket never ran dry.
  CHECK(hedging.budget().refused() == 0);
}

TEST_CASE("hedging starts after some two hundred latencies, and not before") {
  HedgedCluster cluster;
  cluster.run(400ms);
  CHECK(cluster.hedges == 0);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::too_little_known);
  CHECK(cluster.plan(p95).delays.empty());
  CHECK(cluster.plan(fixed(10ms)).delays.size() == 2);  // needs no knowledge
  CHECK(cluster.plan(fixed(10ms)).overdue_after == 0ms);
  cluster.run(600ms);
  CHECK(cluster.plan().delays.size() == 2);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
  CHECK(cluster.plan(p95).delays.size() == 2);
  CHECK(cluster.plan(fixed(10ms)).overdue_after > 8ms);
}

TEST_CASE("each way to choose a delay gives its delays, and never more than replicas allow (trap 20)") {
  HedgedCluster cluster;
  cluster.run(30s);
  struct Row {
    HedgeChoice wanted;
    std::size_t replicas;
    std::vector<double> delays;
    HedgeObstacle obstacle;
  };
  const double usual = 3 + 7 * 0.95 / 0.98;  // the closed form's p95
  const Row rows[] = {
      {fixed(10ms), 1, {}, HedgeObstacle::no_replica},
      {fixed(10ms), 2, {10}, HedgeObstacle::none},
      {fixed(10ms), 3, {10, 20}, HedgeObstacle::none},
      {fixed(10ms), 9, {10, 20}, HedgeObstacle::none},
      {fixed(0ms), 2, {0}, HedgeObstacle::none},
      {p95, 1, {}, HedgeObstacle::no_replica},
      {p95, 2, {usual}, HedgeObstacle::none},
      {p95, 3, {usual, 2 * usual}, HedgeObstacle::none},
      {{}, 1, {}, HedgeObstacle::no_replica},
      {{}, 0, {}, HedgeObstacle::no_replica},
  };
  for (const Row& row : rows) {
    const HedgePlan plan = cluster.hedging.plan(row.wanted, 20, row.replicas, cluster.now);
    REQUIRE(plan.delays.size() == row.delays.size());
    for (std::size_t i = 0; i < row.delays.size(); ++i) {
      CHECK(to_milliseconds(plan.delays[i]) == doctest::Approx(row.delays[i]).epsilon(0.02));
    }
    CHECK(cluster.hedging.obstacle() == row.obstacle);
    CHECK(plan.overdue_after > 0ms);
  }
  CHECK(cluster.hedging.plan({}, 20, 2, cluster.now).delays.size() == 1);
  CHECK(cluster.hedging.plan({}, 20, 3, cluster.now).delays.size() == 2);
  CHECK(cluster.plan(off).delays.empty());
  CHECK(cluster.plan(off).overdue_after > 0ms);
  CHECK(cluster.hedging.suppressed(HedgeObstacle::no_replica) == 4);
}

TEST_CASE("a setting that can have no effect is known at the start (trap 20)") {
  CHECK(obstacle_at_start({}, 1) == HedgeObstacle::no_replica);
  CHECK(obstacle_at_start(fixed(5ms), 0) == HedgeObstacle::no_replica);
  CHECK(obstacle_at_start(p95, 2) == HedgeObstacle::none);
  CHECK(obstacle_at_start(off, 1) == HedgeObstacle::off);
}

TEST_CASE("hedges never cost more than the bucket's fill and depth, and the budget changes live") {
  HedgedCluster cluster;
  cluster.wanted = fixed(1ms);  // before every answer
  cluster.replicas = 2;
  cluster.run(1s);
  cluster.run(49s);
  // The depth went within the first second; then 5 % of 400 a second.
  CHECK(cluster.extra() == doctest::Approx(0.05).epsilon(0.03));
  CHECK(cluster.hedging.budget().refused() > 15'000);
  cluster.hedging.set_budget(0.01, 50);
  cluster.run(50s);
  CHECK(cluster.extra() == doctest::Approx(0.01).epsilon(0.1));
  cluster.hedging.set_budget(0, 0);
  cluster.run(2s);
  CHECK(cluster.hedges == 0);
  CHECK(cluster.plan().delays.empty());
  cluster.hedging.set_budget(0.05, 200);
  cluster.run(20s);
  CHECK(cluster.extra() == doctest::Approx(0.05).epsilon(0.1));
}

TEST_CASE("a delay that is too short is not taken for shared slowness") {
  HedgedCluster cluster;
  cluster.wanted = fixed(4ms);  // six of seven attempts take longer
  cluster.run(30s);
  CHECK(cluster.hedging.suppressed(HedgeObstacle::shared_slowness) == 0);
  CHECK(cluster.hedges > 0);
}

TEST_CASE("one sick leaf neither inflates the delay nor stops hedging (trap 16)") {
  for (const Duration later : {200ms, 15ms, 2000ms}) {
    CAPTURE(format_duration(later));
    HedgedCluster cluster;
    cluster.run(30s);
    const HedgePlan healthy = cluster.plan();
    const Duration healthy_p99 = cluster.quantile(0.99);
    cluster.latency = [&](LeafId asked, Instant) { return cluster.usual() + (asked == leaf(7) ? later : Duration{}); };
    for (int second = 0; second < 30; ++second) {
      cluster.run(1s);
      REQUIRE(cluster.plan().delays.size() == 2);
      // Plans of nearly the same worth may differ in their delays, so the target is what tells. A little later it does
      // become, for the sick leaf's hedges keep the bucket low; planned with the sick leaf's latencies it would be ten
      // times as late for 200 ms.
      CHECK(to_milliseconds(cluster.plan().with_hedges) < 1.5 * to_milliseconds(healthy.with_hedges));
      CHECK(to_milliseconds(cluster.plan().delays.front()) < 1.5 * to_milliseconds(healthy.delays.back()));
    }
    CHECK(cluster.hedging.suppressed(HedgeObstacle::shared_slowness) == 0);
    CHECK(cluster.latencies.is_sick(leaf(7)));
    // The sick leaf holds 5 % of all attempts, and the budget is 5 %: most of them are overtaken.
    cluster.run(30s);
    CHECK(cluster.quantile(0.95) < 3 * healthy_p99);
    CHECK(cluster.extra() > 0.04);
  }
}

TEST_CASE("everything 200 ms slower at once: hedges stop within a second, and come back by themselves (trap 18)") {
  for (const HedgeChoice& wanted : {HedgeChoice{}, p95, fixed(10ms)}) {
    CAPTURE(static_cast<int>(wanted.mode));
    HedgedCluster cluster;
    cluster.wanted = wanted;
    cluster.run(40s);
    const double usual_extra = cluster.extra();
    CHECK(usual_extra > 0.015);
    bool slow = true;
    cluster.latency = [&](LeafId, Instant) { return cluster.usual() + (slow ? 200ms : 0ms); };
    cluster.run(1s);
    CHECK(cluster.hedging.obstacle() == HedgeObstacle::shared_slowness);
    CHECK(cluster.hedges < 200);
    for (int i = 0; i < 30; ++i) {
      cluster.run(1s);
      CHECK(cluster.extra() < 0.002);
      CHECK(cluster.hedging.obstacle() == HedgeObstacle::shared_slowness);
    }
    CHECK(cluster.hedging.suppressed(HedgeObstacle::shared_slowness) > 10'000);

    slow = false;
    cluster.run(2s);
    CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
    cluster.run(20s);
    CHECK(cluster.extra() > 0.5 * usual_extra);
    CHECK(cluster.extra() < 1.5 * usual_extra);
    // The slow time left nothing behind.
    CHECK(to_milliseconds(cluster.plan(p95).delays.front()) == doctest::Approx(9.8).epsilon(0.05));
    REQUIRE_FALSE(cluster.plan().delays.empty());
    CHECK(cluster.plan().delays.front() < 15ms);
  }
}

TEST_CASE("at forty attempts a second shared slowness is noticed within two seconds (trap 18)") {
  HedgedCluster cluster;
  cluster.attempts_per_second = 40;
  cluster.run(60s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
  cluster.latency = [&](LeafId, Instant) { return cluster.usual() + 200ms; };
  cluster.run(2s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::shared_slowness);
  cluster.run(10s);
  CHECK(cluster.hedges == 0);
}

TEST_CASE("a large cluster, where each leaf is seldom asked, notices shared slowness as well (trap 18)") {
  HedgedCluster cluster;
  cluster.leaves = 2000;
  cluster.attempts_per_second = 4000;
  cluster.run(5s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
  CHECK(cluster.hedging.suppressed(HedgeObstacle::shared_slowness) == 0);
  cluster.latency = [&](LeafId, Instant) { return cluster.usual() + 200ms; };
  cluster.run(1s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::shared_slowness);
  cluster.run(3s);
  CHECK(cluster.extra() < 0.002);
}

TEST_CASE("slowness that lasts longer than a minute is how things are, and is hedged by what is usual then") {
  HedgedCluster cluster;
  cluster.run(30s);
  cluster.latency = [&](LeafId, Instant) { return cluster.usual() + 200ms; };
  cluster.run(59s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::shared_slowness);
  cluster.run(30s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
  REQUIRE_FALSE(cluster.plan().delays.empty());
  CHECK(cluster.plan().delays.front() > 205ms);
  CHECK(cluster.extra() <= 0.06);
}

TEST_CASE("two leaves of which one is slow are not a slow cluster, two slow ones are") {
  for (const std::uint32_t slow : {1u, 2u}) {
    HedgedCluster cluster;
    cluster.leaves = 2;
    cluster.replicas = 2;
    cluster.run(20s);
    cluster.latency = [&](LeafId asked, Instant) { return cluster.usual() + (asked.value < slow ? 200ms : 0ms); };
    cluster.run(2s);
    CHECK((cluster.hedging.obstacle() == HedgeObstacle::shared_slowness) == (slow == 2));
  }
}

TEST_CASE("of four leaves one that stays slow does not keep shared slowness going after the others are well again (trap 18)") {
  HedgedCluster cluster;
  cluster.leaves = 4;
  cluster.replicas = 2;
  cluster.run(20s);
  std::uint32_t slow = 4;
  cluster.latency = [&](LeafId asked, Instant) { return cluster.usual() + (asked.value < slow ? 200ms : 0ms); };
  cluster.run(2s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::shared_slowness);
  slow = 1;
  cluster.run(2s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
  CHECK(cluster.hedges > 0);
}

TEST_CASE("a sick leaf is hedged even where all healthy attempts take alike") {
  HedgedCluster cluster;
  cluster.leaves = 4;
  cluster.replicas = 2;
  cluster.latency = [&](LeafId, Instant) { return from_milliseconds(8 + 0.2 * cluster.random.uniform()); };
  cluster.run(20s);
  CHECK(cluster.hedges == 0);
  cluster.latency = [&](LeafId asked, Instant) { return asked == leaf(1) ? Duration(400ms) : from_milliseconds(8 + 0.2 * cluster.random.uniform()); };
  cluster.run(2s);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::none);
  CHECK(cluster.hedges > 100);
}

TEST_CASE("at next to no latency nothing is hedged needlessly (trap 17)") {
  HedgedCluster cluster;
  // 50 to 150 us, some up to 0.9 ms.
  cluster.latency = [&](LeafId, Instant) {
    return from_milliseconds(cluster.random.chance(0.03) ? cluster.random.uniform() * 0.9 : 0.05 + 0.1 * cluster.random.uniform());
  };
  for (const HedgeChoice& wanted : {HedgeChoice{}, p95}) {
    cluster.wanted = wanted;
    cluster.run(20s);
    CHECK(cluster.hedges == 0);
  }
  CHECK(cluster.plan(p95).delays.front() >= 1ms);
  CHECK(cluster.plan().delays.empty());
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::no_gain);

  // But a stall of 100 ms, once in 200, is worth a hedge.
  cluster.latency = [&](LeafId, Instant) {
    return cluster.random.chance(0.005) ? Duration(100ms) : from_milliseconds(0.05 + 0.1 * cluster.random.uniform());
  };
  cluster.wanted = {};
  cluster.run(60s);
  REQUIRE_FALSE(cluster.plan().delays.empty());
  CHECK(cluster.plan().delays.front() >= 1ms);
  CHECK(cluster.extra() == doctest::Approx(0.005).epsilon(0.3));
}

TEST_CASE("where every attempt takes alike there is nothing to gain, and nothing is hedged") {
  HedgedCluster cluster;
  cluster.latency = [&](LeafId, Instant) { return from_milliseconds(8 + 0.2 * cluster.random.uniform()); };
  cluster.run(20s);
  CHECK(cluster.hedges == 0);
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::no_gain);
  CHECK(cluster.plan().overdue_after > 8ms);
}

TEST_CASE("the more attempts queue the less is hedged, and nothing where they wait half as long as they are worked on (trap 15)") {
  struct Row {
    Duration queue;
    double budget;  // planned, as a share of the fill
    HedgeObstacle obstacle;
  };
  for (const Row& row : {Row{0ms, 1, HedgeObstacle::none}, Row{200us, 1, HedgeObstacle::none}, Row{1100us, 0.5, HedgeObstacle::none},
                         Row{1400us, 1.0 / 3, HedgeObstacle::none}, Row{2ms, 0, HedgeObstacle::busy}, Row{40ms, 0, HedgeObstacle::busy}}) {
    CAPTURE(format_duration(row.queue));
    HedgedCluster cluster;
    cluster.run(30s);
    REQUIRE(cluster.plan().extra_share > 0.04);
    cluster.tell_load(row.queue, 4ms);
    for (int i = 0; i < 20; ++i) cluster.latencies.on_answered(leaf(0), 5ms, cluster.now);
    const HedgePlan plan = cluster.plan();
    CHECK(cluster.hedging.obstacle() == row.obstacle);
    CHECK(plan.extra_share <= 0.05 * row.budget * 1.03);
    CHECK(plan.extra_share >= 0.05 * row.budget * 0.85);
    CHECK(cluster.plan(fixed(10ms)).delays.empty() == (row.budget == 0));
    CHECK(cluster.plan(p95).delays.empty() == (row.budget == 0));
    CHECK(cluster.hedging.take(cluster.now) == (row.budget > 0));
    // When the load goes, hedging comes back.
    for (int i = 0; i < 6; ++i) cluster.tell_load(0ms, 4ms);  // 3.6 s: 40 ms fade to less than 0.2
    CHECK_FALSE(cluster.plan().delays.empty());
    CHECK(cluster.hedging.take(cluster.now));
  }
}

TEST_CASE("a fixed delay is held to the smaller budget of busy leaves too (trap 15)") {
  HedgedCluster cluster;
  cluster.wanted = fixed(0ms);
  cluster.replicas = 2;
  cluster.latency = [&](LeafId asked, Instant now) {
    cluster.load.on_waited(asked, 1100us, now);
    cluster.load.on_answered(asked, {.queue_time = 1100us, .service_time = 4ms}, now);
    return cluster.usual();
  };
  cluster.run(5s);
  cluster.run(30s);
  CHECK(cluster.extra() == doctest::Approx(0.025).epsilon(0.1));
}

TEST_CASE("without brakes busy leaves are hedged as idle ones are, which is for comparison") {
  HedgedCluster cluster({.brakes = HedgeBrakes::off});
  cluster.run(30s);
  const double idle = cluster.plan().extra_share;
  cluster.tell_load(40ms, 4ms);
  for (int i = 0; i < 20; ++i) cluster.latencies.on_answered(leaf(0), 5ms, cluster.now);
  CHECK(cluster.plan().extra_share == doctest::Approx(idle).epsilon(0.1));
  CHECK(cluster.plan(p95).delays.size() > 0);
  CHECK(cluster.hedging.take(cluster.now));
}

TEST_CASE("leaves that refuse work are not asked for more, but one overloaded leaf is not the cluster (traps 11 and 15)") {
  HedgedCluster cluster;
  cluster.run(30s);
  const auto tell = [&](Duration time, auto&& refuses) {
    for (const Instant end = cluster.now + time; cluster.now < end; cluster.now += 2ms) {
      const auto number = static_cast<std::uint32_t>(cluster.random.below(20));
      if (refuses(number)) {
        cluster.load.on_failed(leaf(number), true, cluster.now);
      } else {
        cluster.load.on_answered(leaf(number), {.queue_time = 0ms, .service_time = 4ms}, cluster.now);
      }
    }
  };
  tell(1s, [](std::uint32_t number) { return number == 7; });
  CHECK_FALSE(cluster.plan().delays.empty());
  CHECK(cluster.hedging.take(cluster.now));

  const HedgePlan before = cluster.plan();
  tell(1s, [&](std::uint32_t) { return cluster.random.chance(0.1); });
  CHECK_FALSE(before.delays.empty());
  CHECK_FALSE(cluster.hedging.take(cluster.now));  // an obstacle came up since its plan was made
  CHECK(cluster.plan().delays.empty());
  CHECK(cluster.hedging.obstacle() == HedgeObstacle::refusals);
  CHECK(cluster.plan(fixed(10ms)).delays.empty());
  CHECK(cluster.hedging.suppressed(HedgeObstacle::refusals) == 3);

  tell(5s, [](std::uint32_t) { return false; });
  CHECK_FALSE(cluster.plan().delays.empty());
  CHECK(cluster.hedging.take(cluster.now));
}

TEST_CASE("queries of many widths have plans of their own, or their nearest neighbour's") {
  HedgedCluster cluster;
  cluster.run(30s);
  const HedgePlan narrow = cluster.hedging.plan({}, 1, 3, cluster.now);
  const HedgePlan wide = cluster.hedging.plan({}, 1000, 3, cluster.now);
  REQUIRE_FALSE(narrow.delays.empty());
  REQUIRE_FALSE(wide.delays.empty());
  CHECK(narrow.with_hedges < wide.with_hedges);
  for (std::size_t width = 1; width <= 1000; ++width) {
    const HedgePlan plan = cluster.hedging.plan({}, width, 3, cluster.now);
    REQUIRE_FALSE(plan.delays.empty());
    CHECK(plan.with_hedges >= narrow.with_hedges);
    CHECK(plan.with_hedges <= wide.with_hedges);
  }
}

}  // namespace hedgerow::policy
