// How many queries may be in flight: as many as keep the cluster busy without making them wait for each other. Pure.
//
// Intuition: more queries in flight bring more answers until everyone is busy; from there on they only bring longer
// queues, and where all have deadlines, in the end no answer at all. The point is not known and moves, so it is felt for:
// while all goes well and the limit is used, it rises; where even the luckiest attempt waits, it falls.
//
// Signs of overload, looked at once in every window:
//   - the recent smallest queue time of most leaves is above a twentieth of the time that queries have (CoDel's idea, Nichols
//     and Jacobson, 2012: a queue that never empties is no burst). It is the median over leaves: one busy leaf is a matter
//     of choosing among replicas;
//   - the recent mean time that attempts wait on leaves, likewise, is above four times that. It tells of queues that empty
//     now and then and are long all the same, as where processors are shared by too many. Time on the way is not waited:
//     where all leaves are far, or late, nothing is gained by asking them less;
//   - the root itself lags behind its events;
//   - most queries ended at their deadline with less than half of their partitions answered. A leaf that hangs costs each
//     query its share, and is no overload.
// Additive increase, multiplicative decrease, as in TCP: limit += max(1, 3 %) for each window; limit = 0.7 min(limit, most
// in flight). Two more rules of TCP's: the limit only moves while it is used, and what was decided must have shown its
// effect before it is decided again. After three seconds without any sign it rises by a tenth for each window: queries that
// wait for a leaf that hangs are many in flight, and no load.
#pragma once

#include <cstddef>
#include <optional>

#include "base/clock.hpp"
#include "root/policy/cluster/cluster_load.hpp"

namespace hedgerow::policy {

struct ConcurrencyLimitSettings {
  bool adaptive = true;  // else the limit is always the most
  std::size_t most = 1024;
  std::size_t least = 4;
  std::size_t first = 32;  // until something is known
  Duration window = std::chrono::milliseconds(100);
  double increase = 0.03;
  double decrease = 0.7;
  double calm_increase = 0.1;
  std::size_t calm_windows = 30;
  // Waiting on leaves is overload beyond this share of the time that queries have, within these bounds.
  double queue_share = 0.05;
  Duration queue_at_least = std::chrono::milliseconds(5);
  Duration queue_at_most = std::chrono::milliseconds(50);
  int mean_wait = 4;  // times as much is allowed for the mean wait
  Duration lag = std::chrono::milliseconds(10);  // of the root
};

enum class OverloadSign { none, leaf_queues, long_waits, root_lag, hollow_answers };

constexpr const char* to_string(OverloadSign sign) {
  switch (sign) {
    case OverloadSign::none: return "none";
    case OverloadSign::leaf_queues: return "leaf_queues";
    case OverloadSign::long_waits: return "long_waits";
    case OverloadSign::root_lag: return "root_lag";
    case OverloadSign::hollow_answers: return "hollow_answers";
  }
  return "none";
}

class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(const ConcurrencyLimitSettings& settings);

  // What happened: so many are in flight now; a handler of the root ran so late; a query ended, of `given` time from
  // receipt to deadline, at its deadline or before it, with this share of its partitions answered.
  void on_in_flight(std::size_t queries);
  void on_lag(Duration lag);
  void on_ended(Duration given, bool at_deadline, double answered);

  // At least at every event. True: a window ended, and the limit may have changed.
  bool turn(const ClusterLoad& load, Instant now);

  std::size_t limit() const { return static_cast<std::size_t>(limit_); }
  // In the latest window.
  OverloadSign sign() const { return sign_; }
  // What counts as a queue at the moment.
  Duration queue_target() const;
  // And what as a long wait.
  Duration wait_target() const { return queue_target() * settings_.mean_wait; }
  // How long queries have, from receipt to deadline: a recent average.
  Duration given() const { return Duration(static_cast<Duration::rep>(given_seconds_ * 1e9)); }

 private:
  void end_window(const ClusterLoad& load, Instant now);
  OverloadSign look(const ClusterLoad& load, Instant now) const;

  ConcurrencyLimitSettings settings_;
  double limit_;
  std::optional<Instant> window_start_;
  // Of the window: the most in flight, and the least after the latest decrease.
  std::size_t in_flight_ = 0, peak_ = 0;
  bool effective_ = true;  // in flight have been no more than the limit since it was lowered
  double lag_seconds_ = 0;
  std::size_t lags_ = 0, ended_ = 0, hollow_ = 0;
  double given_seconds_ = 0.25;
  std::size_t calm_ = 0;  // windows without a sign
  OverloadSign sign_ = OverloadSign::none;
};

}  // namespace hedgerow::policy
