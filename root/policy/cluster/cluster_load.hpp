// How busy the leaves are, from what comes back with each answer. Pure.
//
// Intuition: one busy leaf is a matter of choosing among replicas; only when most are busy is the cluster. So what is
// read here is the median over the leaves heard of lately (and of refusals, where a median would wake too late, what is
// left without the worst tenth). Hedging asks it whether there is room for extra work, admission whether there is room
// for another query.
//
// What is read is looked up over all leaves at most once in 50 ms, with the event that finds it due; reading changes
// nothing, so whoever looks from outside does not disturb a recording's replay.
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
  // Of an attempt that was answered: how long it waited on the leaf after its turn had come.
  void on_waited(LeafId leaf, Duration waited, Instant now);
  // refused: the leaf's queue was full. Anything else that came back counts as not refused.
  void on_failed(LeafId leaf, bool refused, Instant now);

  // All of these are 0 while nothing was heard of late.
  // Time waited on a leaf after an attempt's turn had come over time worked on it, recent averages, median over leaves.
  // Above 1 the leaves spend more time waiting than working.
  double queueing(Instant now) const { return current(now) ? queueing_ : 0; }
  // The same, as far as it is load. Of work shorter than 2 ms at most the number of this root's attempts that wait on a leaf,
  // on the average of time (0.05 at a single server, M/M/1, that works a fifth of the time; 0.5 where it works half of it):
  // where hardly anybody waits there is room, however long the few attempts that there are wait beside their work. From 4 ms
  // of work on it is queueing() itself. (Of several roots each sees its own share of what waits, so they take short work's
  // waiting for less than it is.)
  double pressure(Instant now) const { return current(now) ? pressure_ : 0; }
  // The smallest time waited on a leaf in the last 100 to 200 ms, lower median over leaves: above 0 even the luckiest
  // attempts wait.
  Duration least_queue_time(Instant now) const { return current(now) ? least_queue_time_ : Duration{}; }
  // What attempts waited on a leaf after their turn had come, of those answered in the last 100 to 200 ms: mean of a leaf,
  // lower median over leaves. Unlike the smallest time it also tells of workers whose processors are shared by too many.
  Duration mean_wait(Instant now) const { return current(now) ? mean_wait_ : Duration{}; }
  // The share of a leaf's attempts that it refused, mean over leaves without the worst tenth of them (one at least): one
  // overloaded leaf refuses only its own.
  double refused_share(Instant now) const { return current(now) ? refused_share_ : 0; }

  // The weight of what was is halved after so long; a leaf unheard for so long has no say.
  static constexpr Duration half_life = std::chrono::milliseconds(500);
  static constexpr Duration lately = std::chrono::seconds(2);

 private:
  struct Leaf {
    double queue_seconds = 0, service_seconds = 0;
    double newest_wait_seconds = 0;  // what the newest attempt has in queue_seconds
    double answered = 0, refused = 0;  // attempts; answered: all that were not refused
    // The smallest time waited, of the current spell and the one before it.
    Duration least{}, least_before{};
    // The sum of what was waited, and of how many, likewise.
    double waited_seconds = 0, waited_seconds_before = 0;
    std::uint32_t waits = 0, waits_before = 0;
    Instant spell{};
    Instant faded{};
    Instant heard{};
  };

  static double pressure_of(const Leaf& leaf, Instant now);
  Leaf& hear_of(LeafId leaf, Instant now);
  void look_around(Instant now);
  bool current(Instant now) const { return looked_ != Instant{} && now - looked_ < lately; }

  std::vector<Leaf> leaves_;
  Instant looked_{};
  double queueing_ = 0, pressure_ = 0;
  Duration least_queue_time_{}, mean_wait_{};
  double refused_share_ = 0;
  // Room for looking around.
  std::vector<double> ratios_, pressures_, shares_;
  std::vector<Duration> times_, waits_;
};

}  // namespace hedgerow::policy
