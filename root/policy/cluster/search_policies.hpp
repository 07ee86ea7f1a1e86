// What all searches of a root learn and share: which leaves are up and how they do, what may be repeated or hedged. Pure.
//
// One for each root thread (and one for each simulated root). Fanouts tell it of every attempt; only what they tell it
// and leaves going up and down change it, so a recording of these events replays to the same decisions.
#pragma once

#include <cstdint>

#include "base/attempt.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/cluster/attempt_latencies.hpp"
#include "root/policy/cluster/attempt_report.hpp"
#include "root/policy/cluster/cluster_load.hpp"
#include "root/policy/cluster/hedging.hpp"
#include "root/policy/cluster/replica_choice.hpp"
#include "root/policy/query/action.hpp"

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

  void on_leaf_up(LeafId leaf) { replica_choice.on_leaf_up(leaf); }
  void on_leaf_down(LeafId leaf) { replica_choice.on_leaf_down(leaf); }

  // An attempt was sent.
  void on_sent(LeafId leaf, AttemptKind kind, Instant now);
  // It was answered, so long after it was its turn (see attempt_latencies); in_flight: until now nobody had given it up.
  void on_answered(LeafId leaf, AttemptKind kind, Duration latency, const AttemptReport& report, Instant now);
  // It was cancelled, superseded, or its time was over.
  void on_given_up(LeafId leaf, AttemptKind kind, Duration latency, Instant now);
  void on_failed(LeafId leaf, AttemptKind kind, AttemptFailure failure, Instant now);

  ReplicaChoice replica_choice;
  AttemptBudget retry_budget;
  AttemptLatencies latencies;
  ClusterLoad load;
  Hedging hedging;
  // Of the way to a leaf and back, without queue and service: the recent median, for tied requests.
  LatencyModel round_trip;
};

}  // namespace hedgerow::policy
