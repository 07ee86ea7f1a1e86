// How busy the leaves are, from what comes back with each answer. Pure.
//
// Intuition: one busy leaf is a matter of choosing among replicas; only when most are busy is the cluster. So what is
// read here is the median over the leaves that answered of late. Hedging asks it whether there is room for extra work,
// admission whether there is room for another query.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/cluster/attempt_report.hpp"

namespace hedgerow::policy {

class ClusterLoad {
 public:
  void on_answered(LeafId leaf, const AttemptReport& report, Instant now);
  // refused: the leaf's queue was full. Anything else that came back counts as not refused.
  void on_failed(LeafId leaf, bool refused, Instant now);

  // Time waited on a leaf over time worked on it, recent averages, median over leaves; 0 while nothing is known. Above 1
  // the leaves spend more time waiting than working.
  double queueing(Instant now) const;
  // The recent smallest time waited on a leaf, median over leaves: above 0 even the luckiest attempts wait.
  Duration least_queue_time(Instant now) const;
  // Of the latest attempts of all leaves, the share that was refused.
  double refused_share(Instant now) const;

 private:
  struct Leaf {
    bool known = false;
    double queue_seconds = 0, service_seconds = 0;
    Instant at{};
  };
  std::vector<Leaf> leaves_;
};

}  // namespace hedgerow::policy
