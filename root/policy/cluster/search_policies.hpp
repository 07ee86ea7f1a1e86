// What all searches of a root learn and share: which leaves are up and how they do, what may be repeated or hedged. Pure.
//
// One for each root thread (and one for each simulated root). Fanouts tell it of every attempt, canaries too; only what
// these tell and ask by way of the functions here, leaves going up and down, and a change of the budget change what is
// decided, so a recording of these events replays to the same decisions (see root/policy/search_recorder). Whoever else
// looks at its parts must only read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/attempt.hpp"
#include "base/random.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/attempt_latencies.hpp"
#include "root/policy/cluster/attempt_report.hpp"
#include "root/policy/cluster/cluster_load.hpp"
#include "root/policy/cluster/hedging.hpp"
#include "root/policy/cluster/replica_choice.hpp"
#include "root/policy/query/action.hpp"
#include "root/policy/search_recorder.hpp"

namespace hedgerow::policy {

struct SearchPolicySettings {
  HedgeSettings hedge;
  ReplicaChoiceSettings replica_choice;
  // Retries: a fifth of the attempts in the long run, and a burst as large as what is under way at a leaf that dies.
  double retry_fill = 0.2;
  double retry_depth = 500;
};

struct SearchPolicies {
  SearchPolicies(const SearchPolicySettings& settings, std::uint64_t seed);
  SearchPolicies(const SearchPolicies&) = delete;
  SearchPolicies& operator=(const SearchPolicies&) = delete;

  void on_leaf_up(LeafId leaf);
  void on_leaf_down(LeafId leaf);

  // A partition's first attempt was sent: what budgets are shares of. A tied pair counts once.
  void on_partition_asked(LeafId leaf, Instant now);
  // For attempts of no fan-out (canaries): a replica among these; what healthy leaves take; one was sent; one ended of
  // which nothing is to be learnt.
  std::optional<LeafId> choose(std::span<const LeafId> replicas, std::span<const LeafId> tried);
  const LatencyCurve& healthy(Instant now);
  void on_sent(LeafId leaf, AttemptKind kind, Instant now);
  void on_ended(LeafId leaf);
  // How long an attempt took: since it was sent, and since it was its turn (see attempt_latencies).
  struct AttemptTime {
    Duration since_sent;
    Duration since_turn;
  };
  // An attempt that nobody had given up was answered.
  void on_answered(LeafId leaf, AttemptKind kind, const AttemptTime& time, const AttemptReport& report, Instant now);
  // It was cancelled, so long after it was its turn.
  void on_given_up(LeafId leaf, AttemptKind kind, Duration since_turn, Instant now);
  // It ended with a failure. Superseded and expired attempts count as given up.
  void on_failed(LeafId leaf, AttemptKind kind, AttemptFailure failure, Duration since_turn, Instant now);
  // It is under way, and has been silent for so long.
  void on_silence(LeafId leaf, Duration since_turn, Instant now);

  // How long after the first the second copy of a tied pair is sent.
  Duration tie_delay(Instant now);
  // How much later than the median healthy leaf this one answers, if it is known to be slow; else 0.
  Duration later_than_healthy(LeafId leaf, const LatencyCurve& healthy, Instant now);
  // For what one query draws.
  std::uint64_t next_query_seed() { return random_.next(); }
  // Of hedges; changeable live.
  void set_hedge_budget(double fill, double depth, Instant now);

  // Before the first event: everything from now on is written down as well, as long as the recorder lives.
  void record_to(SearchRecorder* recorder) { recorder_ = recorder; }
  SearchRecorder* recorder() const { return recorder_; }
  // While one lives, what is told is part of a fan-out's event, which is recorded as a whole.
  class PartOfEvent {
   public:
    explicit PartOfEvent(SearchPolicies& policies) : policies_(policies) { ++policies_.events_open_; }
    ~PartOfEvent() { --policies_.events_open_; }
    PartOfEvent(const PartOfEvent&) = delete;
    PartOfEvent& operator=(const PartOfEvent&) = delete;

   private:
    SearchPolicies& policies_;
  };

  ReplicaChoice replica_choice;
  AttemptBudget retry_budget;
  AttemptLatencies latencies;
  ClusterLoad load;
  Hedging hedging;
  // Of the way to a leaf and back, without queue and service, for tied requests.
  LatencyModel round_trip;

 private:
  bool records() const { return recorder_ && events_open_ == 0; }

  Random random_;
  SearchRecorder* recorder_ = nullptr;
  int events_open_ = 0;
  // The round trip's median, read anew now and then: reading costs more than a query's share of it is worth.
  Duration tie_delay_{};
  std::optional<Instant> tie_delay_read_;
};

}  // namespace hedgerow::policy
