// How long attempts take: of each leaf, of the whole cluster, and of the cluster without its sick leaves. Pure.
//
// Intuition: a hedge must be sent when an attempt takes longer than a healthy leaf takes; so a leaf that is slow against
// most others must not have a say in what counts as slow (CASSANDRA-14293: one sick leaf inflated the delay at which its
// own slowness was noticed). But what hedging costs is decided by all attempts, the sick leaf's included.
//
// A latency is counted from the moment when it was the attempt's turn: from its sending, or from the leaf's last answer
// to an earlier partition of the same query (time waited behind the same frame's earlier partitions is no slowness).
#pragma once

#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::policy {

class AttemptLatencies {
 public:
  AttemptLatencies();

  void on_answered(LeafId leaf, Duration latency, Instant now);
  // Cancelled, superseded or expired after so long: it would have taken longer. (The loser of a hedge counts as well.)
  void on_given_up(LeafId leaf, Duration latency, Instant now);

  // Of all attempts; and of those at leaves that are not slow against most. Kept until something new is known.
  const LatencyCurve& all(Instant now);
  const LatencyCurve& healthy(Instant now);
  // Of one leaf; nullopt: too little is known of it.
  std::optional<Duration> median_of(LeafId leaf, Instant now);
  bool is_sick(LeafId leaf, Instant now);
  std::uint64_t samples(Instant now);

 private:
  LatencyModel cluster_;
  LatencyCurve all_, healthy_;
};

}  // namespace hedgerow::policy
