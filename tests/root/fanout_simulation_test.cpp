// Fan-outs in virtual time against leaves that answer, fail, stay silent, answer twice and lose their links, all drawn
// from a seed. A failure replays from the seed that it names.

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

struct Rates {
  double silence, failure, twice, link_loss;
};

class Simulation {
 public:
  explicit Simulation(std::uint64_t seed)
      : random_(seed),
        fill_(random_.uniform() * 0.3),
        depth_(static_cast<double>(random_.below(12))),
        policies_(settings(fill_, depth_), seed + 1),
        leaves_(1 + static_cast<std::uint32_t>(random_.below(6))),
        // Most worlds are troubled in one way, so that each trouble is met alone as well.
        rates_{random_.chance(0.5) ? random_.uniform() * 0.5 : 0, random_.chance(0.6) ? random_.uniform() * 0.7 : 0,
               random_.uniform() * 0.1, random_.chance(0.4) ? random_.uniform() * 0.3 : 0} {
    for (std::uint32_t i = 0; i < leaves_; ++i) {
      if (!random_.chance(0.1)) policies_.on_leaf_up(leaf(i));
    }
  }

  static SearchPolicySettings settings(double fill, double depth) {
    SearchPolicySettings settings;
    settings.retry_fill = fill;
    settings.retry_depth = depth;
    return settings;
  }

  void run() {
    const auto count = 1 + random_.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      queries_.push_back(std::make_unique<Query>());
      schedule(milliseconds(40), [this, i](Instant now) { begin(*queries_[i], now); });
    }
    while (!events_.empty()) {
      auto event = events_.extract(events_.begin());
      event.mapped()(std::get<0>(event.key()));
      check_in_flight();
    }
    std::uint64_t primaries = 0, retries = 0;
    for (const auto& query : queries_) {
      if (!query->fanout) continue;  // destroyed early, or never begun
      check_end(*query);
    }
    for (const auto& query : queries_) {
      primaries += query->primaries;
      retries += query->retries;
      query->fanout.reset();
      for (auto& [id, open] : query->open) open.over = true;
    }
    REQUIRE(static_cast<double>(retries) <= depth_ + fill_ * static_cast<double>(primaries) + 1e-6);
    check_in_flight();
    for (std::uint32_t i = 0; i < leaves_; ++i) REQUIRE(policies_.replica_choice.in_flight(leaf(i)) == 0);
  }

 private:
  struct Open {
    LeafId leaf;
    std::size_t partition;
    bool over = false;  // answered, failed or cancelled: no longer in flight
  };
  struct Query {
    std::unique_ptr<Fanout> fanout;
    std::vector<Fanout::Partition> partitions;
    Instant search_end;
    std::map<std::uint32_t, Open> open;
    std::vector<int> merged;
    std::vector<std::set<LeafId>> asked;
    std::uint64_t primaries = 0, retries = 0;
    bool finished = false, abandoned = false, woken_at_end = false;
  };
  using Event = std::function<void(Instant)>;

  Duration milliseconds(double most) { return from_milliseconds(random_.uniform() * most); }
  void schedule(Duration in, Event event) { events_.emplace(std::tuple(now_ + in, ++order_), std::move(event)); }

  void begin(Query& query, Instant now) {
    now_ = now;
    const auto partitions = 1 + random_.below(10);
    for (std::uint32_t i = 0; i < partitions; ++i) {
      Fanout::Partition partition{PartitionId{100 + i}, {}};
      for (std::uint32_t l = 0; l < leaves_; ++l) {
        if (random_.chance(0.5)) partition.replicas.push_back(leaf(l));
      }
      if (partition.replicas.empty()) partition.replicas.push_back(leaf(static_cast<std::uint32_t>(random_.below(leaves_))));
      query.partitions.push_back(std::move(partition));
    }
    query.merged.assign(partitions, 0);
    query.asked.resize(partitions);
    query.search_end = now + milliseconds(30) - std::chrono::milliseconds(1);  // now and then already over
    query.fanout = std::make_unique<Fanout>(query.partitions, Fanout::Settings{.search_end = query.search_end, .early_fetch = {}, .hedge = {}, .tied = false, .good_enough = {}}, policies_);
    perform(query, query.fanout->start(now), now);
    if (random_.chance(0.1)) {
      schedule(milliseconds(30), [this, &query](Instant then) {
        now_ = then;
        if (!query.fanout) return;
        query.abandoned = query.abandoned || !query.finished;
        perform(query, query.fanout->abandon(then), then);
        REQUIRE(query.finished);
      });
    } else if (random_.chance(0.1)) {
      schedule(milliseconds(30), [this, &query](Instant then) {
        now_ = then;
        query.fanout.reset();
        for (auto& [id, open] : query.open) open.over = true;
      });
    }
  }

  void perform(Query& query, const Actions& actions, Instant now) {
    if (query.finished) REQUIRE(actions.empty());
    for (const auto& action : actions) {
      REQUIRE_FALSE(query.finished);  // Finish is the last action
      if (const auto* send = std::get_if<SendAttempt>(&action)) {
        on_send(query, *send, now);
      } else if (const auto* cancel = std::get_if<CancelAttempt>(&action)) {
        auto& open = query.open.at(cancel->attempt.value);
        REQUIRE_FALSE(open.over);
        open.over = true;
      } else if (const auto* wake = std::get_if<WakeAt>(&action)) {
        // A host wakes at the instant, or a little later.
        const Duration late = random_.chance(0.3) ? milliseconds(1) : Duration::zero();
        schedule(wake->at - now + late, [this, &query](Instant then) {
          now_ = then;
          if (!query.fanout) return;
          perform(query, query.fanout->on_wake(then), then);
          if (then >= query.search_end) REQUIRE(query.finished);
        });
      } else if (std::holds_alternative<Finish>(action)) {
        query.finished = true;
      }
    }
  }

  void on_send(Query& query, const SendAttempt& send, Instant now) {
    REQUIRE(now < query.search_end);
    REQUIRE(policies_.replica_choice.is_up(send.leaf));
    const std::size_t index = send.partition.value - 100;
    const auto& replicas = query.partitions.at(index).replicas;
    REQUIRE(std::find(replicas.begin(), replicas.end(), send.leaf) != replicas.end());
    REQUIRE(query.asked[index].insert(send.leaf).second);  // never the same leaf twice
    REQUIRE(query.open.emplace(send.attempt.value, Open{send.leaf, index}).second);
    ++(send.kind == AttemptKind::retry ? query.retries : query.primaries);
    REQUIRE((send.kind == AttemptKind::primary) == (query.asked[index].size() == 1));

    const AttemptId id = send.attempt;
    if (random_.chance(rates_.link_loss)) {
      schedule(milliseconds(10), [this, l = send.leaf](Instant then) { lose_link(l, then); });
    }
    if (random_.chance(rates_.silence)) return;
    if (random_.chance(rates_.failure)) {
      schedule(milliseconds(20), [this, &query, id](Instant then) {
        constexpr AttemptFailure failures[] = {AttemptFailure::refused, AttemptFailure::expired, AttemptFailure::failed,
                                               AttemptFailure::bad_query};
        fail(query, id, failures[random_.below(4)], then);
      });
      if (!random_.chance(rates_.twice)) return;
    }
    const int answers = random_.chance(rates_.twice) ? 2 : 1;
    for (int i = 0; i < answers; ++i) {
      schedule(milliseconds(random_.chance(0.8) ? 10 : 60), [this, &query, id](Instant then) { answer(query, id, then); });
    }
  }

  void answer(Query& query, AttemptId id, Instant now) {
    now_ = now;
    if (!query.fanout) return;
    Open& open = query.open.at(id.value);
    const bool was_waiting = query.fanout->state_of(open.partition) == PartitionState::waiting;
    const bool was_finished = query.finished;
    open.over = true;
    const auto verdict = query.fanout->on_answer(id, {}, now);
    REQUIRE(verdict.merge == (was_waiting && !was_finished));
    if (verdict.merge) {
      REQUIRE(++query.merged[open.partition] == 1);
      REQUIRE(query.fanout->answered_by(open.partition) == open.leaf);
    }
    perform(query, verdict.actions, now);
  }

  void fail(Query& query, AttemptId id, AttemptFailure failure, Instant now) {
    now_ = now;
    if (!query.fanout) return;
    query.open.at(id.value).over = true;
    perform(query, query.fanout->on_failure(id, failure, now), now);
  }

  void lose_link(LeafId lost, Instant now) {
    now_ = now;
    policies_.on_leaf_down(lost);
    for (const auto& query : queries_) {
      for (std::uint32_t id = 0; query->fanout && id < query->fanout->attempts(); ++id) {
        const Open& open = query->open.at(id);
        if (open.leaf == lost && !open.over) fail(*query, AttemptId{id}, AttemptFailure::unreachable, now);
      }
    }
    schedule(milliseconds(20), [this, lost](Instant then) {
      now_ = then;
      policies_.on_leaf_up(lost);
    });
  }

  void check_in_flight() {
    std::vector<std::uint32_t> expected(leaves_, 0);
    for (const auto& query : queries_) {
      for (const auto& [id, open] : query->open) expected[open.leaf.value] += open.over ? 0 : 1;
    }
    for (std::uint32_t i = 0; i < leaves_; ++i) REQUIRE(policies_.replica_choice.in_flight(leaf(i)) == expected[i]);
  }

  void check_end(const Query& query) {
    REQUIRE(query.finished);
    REQUIRE(query.fanout->finished());
    std::size_t answered = 0;
    for (std::size_t i = 0; i < query.partitions.size(); ++i) {
      const auto state = query.fanout->state_of(i);
      REQUIRE((state == PartitionState::answered) == (query.merged[i] == 1));
      if (!query.abandoned) REQUIRE(state != PartitionState::waiting);
      answered += state == PartitionState::answered ? 1 : 0;
    }
    const auto reason = query.fanout->finish_reason();
    REQUIRE((reason == FinishReason::complete) == (answered == query.partitions.size()));
    REQUIRE(reason != FinishReason::good_enough);
    for (const auto& [id, open] : query.open) REQUIRE(open.over);
  }

  Random random_;
  double fill_, depth_;
  SearchPolicies policies_;
  std::uint32_t leaves_;
  Rates rates_;
  Instant now_ = at(0ms);
  std::uint64_t order_ = 0;
  std::map<std::tuple<Instant, std::uint64_t>, Event> events_;
  std::vector<std::unique_ptr<Query>> queries_;
};

}  // namespace

TEST_CASE("fan-outs keep their invariants whatever leaves do") {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    CAPTURE(seed);
    Simulation(seed).run();
  }
}

}  // namespace hedgerow::policy
