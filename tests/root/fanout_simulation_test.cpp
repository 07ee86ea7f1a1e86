// Fan-outs in virtual time against leaves that answer, fail, refuse, stay silent, answer twice and lose their links, with
// hedges, tied pairs, probes and answers that are good enough, all drawn from a seed. A failure replays from the seed
// that it names.

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "policy_fixture.hpp"
#include "root/policy/query/retry.hpp"

namespace hedgerow::policy {

namespace {

struct Rates {
  double silence, failure, twice, link_loss;
};

// What must have happened somewhere among many seeds, or the simulation tests less than it says.
struct Seen {
  std::uint64_t kinds[6] = {};
  std::uint64_t hedges_refused = 0, superseded = 0, asked_again = 0, good_enough = 0, started_told = 0, stopped_asking = 0;
};

class FanoutSimulation {
 public:
  FanoutSimulation(std::uint64_t seed, Seen& seen)
      : seen_(seen),
        random_(seed),
        settings_(draw_settings()),
        policies_(settings_, seed + 1),
        leaves_(1 + static_cast<std::uint32_t>(random_.below(6))),
        // Most worlds are troubled in one way, so that each trouble is met alone as well.
        rates_{random_.chance(0.5) ? random_.uniform() * 0.5 : 0, random_.chance(0.6) ? random_.uniform() * 0.7 : 0,
               random_.uniform() * 0.1, random_.chance(0.4) ? random_.uniform() * 0.3 : 0} {
    for (std::uint32_t i = 0; i < leaves_; ++i) {
      if (!random_.chance(0.1)) policies_.on_leaf_up(leaf(i));
    }
  }

  void run() {
    const auto count = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < count; ++i) {
      queries_.push_back(std::make_unique<Query>());
      schedule(milliseconds(60), [this, i](Instant now) { begin(*queries_[i], now); });
    }
    while (!events_.empty()) {
      auto event = events_.extract(events_.begin());
      now_ = std::get<0>(event.key());
      event.mapped()(now_);
      check_in_flight();
    }
    double partitions = 0, retries = 0, hedges = 0, probes = 0;
    for (const auto& query : queries_) {
      if (query->fanout) check_end(*query);  // else destroyed early, or never begun
      query->fanout.reset();
      for (auto& [id, open] : query->open) open.over = true;
      partitions += static_cast<double>(query->partitions.size());
      retries += query->sent(AttemptKind::retry);
      hedges += query->sent(AttemptKind::hedge);
      probes += query->sent(AttemptKind::probe);
    }
    check_in_flight();
    // The budgets were never exceeded.
    REQUIRE(retries <= settings_.retry_depth + settings_.retry_fill * partitions + 1e-6);
    REQUIRE(hedges <= settings_.hedge.budget_depth + settings_.hedge.budget_fill * partitions + 1e-6);
    REQUIRE(probes <= settings_.replica_choice.probe_burst + settings_.replica_choice.probe_share * partitions + 1e-6);
    seen_.hedges_refused += policies_.hedging.budget().refused();
  }

 private:
  struct Open {
    LeafId leaf;
    std::size_t partition;
    AttemptKind kind;
    bool over = false;  // answered, failed or cancelled: no longer in flight
  };
  struct Query {
    std::unique_ptr<Fanout> fanout;
    std::vector<Fanout::Partition> partitions;
    Fanout::Settings settings;
    std::map<std::uint32_t, Open> open;
    std::map<std::uint32_t, Twin> twin_of;  // by attempt, as its sending named it
    std::vector<int> merged;
    std::vector<std::set<LeafId>> asked;
    std::set<std::pair<std::size_t, LeafId>> superseded_at;
    std::set<LeafId> lost;
    std::uint64_t wishes = 0;
    std::uint64_t sent_by_kind[6] = {};
    bool started = false, finished = false, abandoned = false;

    double sent(AttemptKind kind) const { return static_cast<double>(sent_by_kind[static_cast<std::size_t>(kind)]); }
  };
  using Event = std::function<void(Instant)>;

  SearchPolicySettings draw_settings() {
    SearchPolicySettings settings;
    settings.retry_fill = random_.uniform() * 0.3;
    settings.retry_depth = static_cast<double>(random_.below(12));
    settings.hedge.budget_fill = random_.uniform() * 0.3;
    settings.hedge.budget_depth = static_cast<double>(random_.below(12));
    settings.replica_choice.mode = static_cast<ReplicaChoiceSettings::Mode>(random_.below(3));
    settings.replica_choice.stale_after = milliseconds(20);
    settings.replica_choice.probe_share = random_.uniform() * 0.3;
    settings.replica_choice.probe_burst = static_cast<double>(random_.below(6));
    return settings;
  }

  HedgeChoice draw_hedge() {
    HedgeChoice choice;
    choice.mode = random_.chance(0.5) ? HedgeChoice::Mode::fixed : static_cast<HedgeChoice::Mode>(random_.below(4));
    choice.delay = milliseconds(12);
    choice.quantile = random_.uniform();
    return choice;
  }

  Duration milliseconds(double most) { return from_milliseconds(random_.uniform() * most); }
  void schedule(Duration in, Event event) { events_.emplace(std::tuple(now_ + in, ++order_), std::move(event)); }

  void begin(Query& query, Instant now) {
    const auto partitions = 1 + random_.below(10);
    for (std::uint32_t i = 0; i < partitions; ++i) {
      Fanout::Partition partition{PartitionId{100 + i}, {}, random_.below(5)};
      for (std::uint32_t l = 0; l < leaves_; ++l) {
        if (random_.chance(0.5)) partition.replicas.push_back(leaf(l));
      }
      if (partition.replicas.empty()) partition.replicas.push_back(leaf(static_cast<std::uint32_t>(random_.below(leaves_))));
      query.partitions.push_back(std::move(partition));
    }
    query.merged.assign(partitions, 0);
    query.asked.resize(partitions);
    query.settings.search_end = now + milliseconds(30) - std::chrono::milliseconds(1);  // now and then already over
    if (random_.chance(0.3)) query.settings.early_fetch = now + milliseconds(30);
    query.settings.hedge = draw_hedge();
    query.settings.tied = random_.chance(0.4);
    if (random_.chance(0.4)) query.settings.good_enough = {random_.uniform(), milliseconds(3)};
    query.fanout = std::make_unique<Fanout>(query.partitions, query.settings, policies_);
    if (random_.chance(0.1)) {
      const std::size_t adopted = random_.below(partitions);
      query.fanout->adopt(adopted, leaf(0));
      query.merged[adopted] = 1;
    }
    perform(query, query.fanout->start(now), now);
    query.started = true;
    if (random_.chance(0.1)) {
      schedule(milliseconds(30), [this, &query](Instant then) {
        if (!query.fanout) return;
        query.abandoned = query.abandoned || !query.finished;
        perform(query, query.fanout->abandon(then), then);
        REQUIRE(query.finished);
      });
    } else if (random_.chance(0.1)) {
      schedule(milliseconds(30), [this, &query](Instant) {
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
        REQUIRE(wake->at <= query.settings.search_end);
        // Only the last wish counts, and a host wakes at its instant or a little later.
        const Duration late = random_.chance(0.3) ? milliseconds(1) : Duration::zero();
        schedule(std::max(Duration::zero(), wake->at - now) + late, [this, &query, wish = ++query.wishes](Instant then) {
          if (!query.fanout || wish != query.wishes) return;
          perform(query, query.fanout->on_wake(then), then);
          if (then >= query.settings.search_end) REQUIRE(query.finished);
        });
      } else if (std::holds_alternative<Finish>(action)) {
        query.finished = true;
      }
    }
    // What is not over has somebody who will wake it.
    if (!query.finished) REQUIRE(query.wishes > 0);
  }

  void check_sending(Query& query, const SendAttempt& send, std::size_t index, Instant now) {
    REQUIRE(now < query.settings.search_end);
    REQUIRE(policies_.replica_choice.is_up(send.leaf));
    REQUIRE(query.fanout->state_of(index) == PartitionState::waiting);
    const auto& replicas = query.partitions.at(index).replicas;
    REQUIRE(std::find(replicas.begin(), replicas.end(), send.leaf) != replicas.end());
    const bool first_seen = query.asked[index].empty();
    REQUIRE(query.asked[index].insert(send.leaf).second);  // never the same leaf twice, unless it was superseded there
    switch (send.kind) {
      case AttemptKind::primary: REQUIRE(first_seen); break;
      case AttemptKind::probe: REQUIRE_FALSE(query.started); break;
      case AttemptKind::retry:
      case AttemptKind::hedge: REQUIRE(query.lost.size() < most_leaves_lost); break;
      case AttemptKind::tied: {
        REQUIRE(send.twin.has_value());
        const auto other = query.twin_of.find(send.twin->attempt.value);
        if (other != query.twin_of.end()) {  // this is the second: the first named it, and is still under way
          REQUIRE(other->second.attempt == send.attempt);
          REQUIRE(other->second.leaf == send.leaf);
          REQUIRE_FALSE(query.open.at(send.twin->attempt.value).over);
        } else {
          REQUIRE(first_seen);
        }
        query.twin_of.emplace(send.attempt.value, *send.twin);
        break;
      }
      case AttemptKind::canary: REQUIRE(false); break;
    }
    if (send.kind != AttemptKind::tied) REQUIRE_FALSE(send.twin.has_value());
  }

  void on_send(Query& query, const SendAttempt& send, Instant now) {
    const std::size_t index = send.partition.value - 100;
    check_sending(query, send, index, now);
    REQUIRE(query.open.emplace(send.attempt.value, Open{send.leaf, index, send.kind}).second);
    if (query.superseded_at.contains({index, send.leaf})) ++seen_.asked_again;
    ++query.sent_by_kind[static_cast<std::size_t>(send.kind)];
    ++seen_.kinds[static_cast<std::size_t>(send.kind)];

    const AttemptId id = send.attempt;
    if (random_.chance(rates_.link_loss)) {
      schedule(milliseconds(10), [this, l = send.leaf](Instant then) { lose_link(l, then); });
    }
    if (random_.chance(rates_.silence)) return;
    if (send.kind == AttemptKind::tied && random_.chance(0.8)) {
      schedule(milliseconds(4), [this, &query, id](Instant then) { begin_half(query, id, then); });
    }
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

  // One half of a pair begins: its leaf tells the other, or has the root tell it. Now and then nobody does.
  void begin_half(Query& query, AttemptId id, Instant now) {
    if (!query.fanout || query.open.at(id.value).over) return;
    const auto other = query.twin_of.at(id.value).attempt;
    if (random_.chance(0.2)) {
      ++seen_.started_told;
      perform(query, query.fanout->on_started(id, now), now);
    } else if (query.open.contains(other.value) && !query.open.at(other.value).over && random_.chance(0.9)) {
      ++seen_.superseded;
      Open& dropped = query.open.at(other.value);
      query.asked[dropped.partition].erase(dropped.leaf);
      query.superseded_at.insert({dropped.partition, dropped.leaf});
      fail(query, other, AttemptFailure::superseded, now);
    }
  }

  void answer(Query& query, AttemptId id, Instant now) {
    if (!query.fanout) return;
    Open& open = query.open.at(id.value);
    const bool was_waiting = query.fanout->state_of(open.partition) == PartitionState::waiting;
    const bool was_finished = query.finished;
    open.over = true;
    const auto verdict = query.fanout->on_answer(id, {.queue_time = milliseconds(2), .service_time = milliseconds(5)}, now);
    REQUIRE(verdict.merge == (was_waiting && !was_finished));
    if (verdict.merge) {
      REQUIRE(++query.merged[open.partition] == 1);
      REQUIRE(query.fanout->answered_by(open.partition) == open.leaf);
    }
    perform(query, verdict.actions, now);
  }

  void fail(Query& query, AttemptId id, AttemptFailure failure, Instant now) {
    if (!query.fanout) return;
    Open& open = query.open.at(id.value);
    if (failure == AttemptFailure::unreachable && !open.over) query.lost.insert(open.leaf);
    open.over = true;
    if (query.lost.size() >= most_leaves_lost) ++seen_.stopped_asking;
    perform(query, query.fanout->on_failure(id, failure, now), now);
    REQUIRE(query.fanout->lost_leaves().size() == query.lost.size());
  }

  void lose_link(LeafId lost, Instant now) {
    policies_.on_leaf_down(lost);
    for (const auto& query : queries_) {
      std::vector<std::uint32_t> there;
      for (const auto& [id, open] : query->open) {
        if (open.leaf == lost && !open.over) there.push_back(id);
      }
      for (const auto id : there) {
        if (!query->open.at(id).over) fail(*query, AttemptId{id}, AttemptFailure::unreachable, now);
      }
    }
    schedule(milliseconds(20), [this, lost](Instant) { policies_.on_leaf_up(lost); });
  }

  // Every attempt that was sent has ended exactly once where it is over, and not at all where it is not.
  void check_in_flight() {
    std::vector<std::uint32_t> expected(leaves_, 0);
    for (const auto& query : queries_) {
      for (const auto& [id, open] : query->open) expected[open.leaf.value] += open.over ? 0 : 1;
      if (!query->fanout) continue;
      for (std::uint32_t id = 0; id < query->fanout->attempts(); ++id) {
        const auto& attempt = query->fanout->attempt(AttemptId{id});
        const auto open = query->open.find(id);
        REQUIRE(attempt.outstanding == (open != query->open.end() && !open->second.over));
        expected[attempt.leaf.value] += attempt.planned ? 1 : 0;
      }
    }
    for (std::uint32_t i = 0; i < leaves_; ++i) REQUIRE(policies_.replica_choice.in_flight(leaf(i)) == expected[i]);
  }

  void check_end(const Query& query) {
    REQUIRE(query.finished);
    REQUIRE(query.fanout->finished());
    std::size_t answered = 0;
    double documents = 0, documents_answered = 0;
    for (std::size_t i = 0; i < query.partitions.size(); ++i) {
      const auto state = query.fanout->state_of(i);
      REQUIRE((state == PartitionState::answered) == (query.merged[i] == 1));
      if (!query.abandoned) REQUIRE(state != PartitionState::waiting);
      documents += static_cast<double>(query.partitions[i].documents);
      if (state != PartitionState::answered) continue;
      ++answered;
      documents_answered += static_cast<double>(query.partitions[i].documents);
    }
    const auto reason = query.fanout->finish_reason();
    REQUIRE((reason == FinishReason::complete) == (answered == query.partitions.size()));
    if (reason == FinishReason::good_enough) {
      ++seen_.good_enough;
      REQUIRE(query.settings.good_enough.min_completeness < 1);
      REQUIRE(documents_answered >= query.settings.good_enough.min_completeness * documents - 1e-9);
    }
    for (const auto& [id, open] : query.open) REQUIRE(open.over);
    for (std::uint32_t id = 0; id < query.fanout->attempts(); ++id) REQUIRE_FALSE(query.fanout->attempt(AttemptId{id}).planned);
  }

  Seen& seen_;
  Random random_;
  Instant now_ = at(0ms);
  SearchPolicySettings settings_;
  SearchPolicies policies_;
  std::uint32_t leaves_;
  Rates rates_;
  std::uint64_t order_ = 0;
  std::map<std::tuple<Instant, std::uint64_t>, Event> events_;
  std::vector<std::unique_ptr<Query>> queries_;
};

}  // namespace

TEST_CASE("fan-outs keep their invariants whatever leaves do") {
  Seen seen;
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    CAPTURE(seed);
    FanoutSimulation(seed, seen).run();
  }
  for (const auto kind : {AttemptKind::primary, AttemptKind::retry, AttemptKind::hedge, AttemptKind::tied, AttemptKind::probe}) {
    CAPTURE(to_string(kind));
    CHECK(seen.kinds[static_cast<std::size_t>(kind)] > 100);
  }
  CHECK(seen.hedges_refused > 100);
  CHECK(seen.superseded > 500);
  CHECK(seen.asked_again > 20);
  CHECK(seen.good_enough > 100);
  CHECK(seen.started_told > 100);
  CHECK(seen.stopped_asking > 100);
}

}  // namespace hedgerow::policy
