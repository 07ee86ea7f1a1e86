// How long attempts take: of each leaf, of the whole cluster, and of the cluster without its sick leaves. Pure.
//
// Intuition: a hedge must be sent when an attempt takes longer than a healthy leaf takes; so a leaf that is slow against
// most others must not have a say in what counts as slow (CASSANDRA-14293: one sick leaf inflated the delay at which its
// own slowness was noticed). A leaf is sick when its median is far above the median of all leaves' medians, as long as
// such leaves are a minority; what most leaves do is no sickness but how things are.
//
// A latency is counted from the moment when it was the attempt's turn: from its sending, or from when the leaf was
// done with an earlier partition of the same query (time waited behind the same frame's earlier partitions is no slowness).
//
// The cluster's latencies are kept finely (within 0.1 %: where the bulk of answers ends, a few microseconds more or less
// are many hedges more or less), each leaf's coarsely. Two windows take turns, as in LatencyModel; a window goes on
// until it holds enough, so a root that is seldom asked knows something too. Recording costs some tens of nanoseconds;
// curves are made rarely and kept.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/latency_model.hpp"
#include "root/policy/cluster/recent_median.hpp"

namespace hedgerow::policy {

struct AttemptLatencySettings {
  // A window lasts so long, and on until it holds so many samples, but never longer than longest_window.
  Duration window = std::chrono::seconds(10);
  std::uint64_t fewest = 1000;
  Duration longest_window = std::chrono::minutes(10);
  // A leaf is sick whose median is so many times the median of all leaves' medians, and so much above it.
  double sick = 3;
  Duration sick_at_least = std::chrono::milliseconds(5);
};

class AttemptLatencies {
 public:
  explicit AttemptLatencies(const AttemptLatencySettings& settings = {});

  void on_answered(LeafId leaf, Duration latency, Instant now);
  // Cancelled, superseded or expired after so long: it would have taken longer. (The loser of a hedge counts as well.)
  void on_given_up(LeafId leaf, Duration latency, Instant now);

  // Of all attempts; and of those at leaves that were not sick. Kept for a quarter of a second or until there is a
  // quarter more to go by; valid until the next call. For policies: asking may make them anew. Unanswered shares are
  // never too small by more than the samples' own error: a step is where the last of its samples had been answered.
  const LatencyCurve& all(Instant now);
  const LatencyCurve& healthy(Instant now);
  // Changes whenever all() and healthy() do.
  std::uint64_t version(Instant now);

  // Of one leaf, within a tenth; nullopt: too little is known of it. Where so much was given up that half never
  // answered, a lower bound.
  std::optional<Duration> median_of(LeafId leaf) const;
  std::optional<Duration> median_of(LeafId leaf, Instant) const { return median_of(leaf); }
  bool is_sick(LeafId leaf) const { return leaf.value < leaves_.size() && leaves_[leaf.value].sick; }
  bool is_sick(LeafId leaf, Instant) const { return is_sick(leaf); }
  // In the windows that count at the moment.
  std::uint64_t samples(Instant now);

  // What was learnt of the cluster misleads from now on. What is known of single leaves stays.
  void forget();

 private:
  struct Ended {
    Ended();
    std::uint64_t count() const { return answered.count() + given_up.count(); }
    void clear();
    void add(const Ended& other);
    Histogram answered, given_up;
  };
  // What ended within one window, by what the leaf was held for at the time.
  struct Window {
    std::uint64_t count() const { return healthy.count() + sick.count(); }
    void clear();
    Ended healthy, sick;
  };
  struct Leaf {
    RecentMedian median;
    bool sick = false;
  };

  Leaf& of(LeafId leaf);
  void turn(Instant now);
  void look_around(Instant now);
  void renew(Instant now);

  AttemptLatencySettings settings_;
  std::optional<Instant> window_start_;
  Window current_, before_;
  std::vector<Leaf> leaves_;

  // Sick leaves are looked for when there is something new, not with every sample.
  Instant looked_{};
  std::uint64_t recorded_ = 0, recorded_when_looked_ = 0;
  std::vector<std::pair<std::size_t, RecentMedian::Verdict>> verdicts_;  // room for looking around
  std::vector<Duration> medians_;

  std::uint64_t version_ = 0;
  Instant renewed_{};
  std::uint64_t recorded_when_renewed_ = 0;
  bool outdated_ = true;
  Ended merged_;  // room for both windows
  LatencyCurve all_, healthy_;
};

}  // namespace hedgerow::policy
