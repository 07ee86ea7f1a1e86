// Which queries are let in, which wait for a moment, which are refused, and what is spared them all. Pure: (event, now) in,
// verdicts out; the host is root/waiting_room.
//
// Intuition: a root that takes every query under overload answers none in time, since all of them share what is there, and
// what is cancelled at its deadline was work for nothing. So as many are in flight as get on without queueing
// (concurrency_limit). The others wait here, in order of class and deadline, where waiting costs no work and can be ended
// at once; who could not be begun in time is refused on arrival, while it still helps. Before anyone is refused, all get
// less: what is optional first, then batch, then the width of the fan-out.
//
// All of it follows from one number, the pressure: interactive queries in flight over the limit (0 to 1), and when that is full, 1
// plus how long a newcomer would wait over the longest that it may wait (1 to 2). It rises at once and falls slowly (by
// half in a quarter of a second), so that what is shed does not flicker.
//   from 0.8   optional subsystems are skipped
//   from 0.9   batch has one query in flight instead of its most
//   from 1.25  interactive queries ask fewer partitions: down to the narrowest share at 1.75
//   at 2       who comes is refused
//
// Batch has a bound on queries in flight of its own, and takes no place from interactive queries; that it does not slow
// them on the leaves is the leaves' work_queue's affair. One batch query is always let in, so batch always moves. It
// waits as long as its deadline allows.
//
// Invariants: (1) in flight are never more interactive queries than the limit was when the last one was let in, nor more
// of batch than its most; (2) a query is let in, refused, or leaves, once; (3) of
// the waiting of one class, the earliest deadline goes first; (4) waiting is bounded in number and time; (5) nobody is let
// in after its give_up.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "root/policy/cluster/cluster_load.hpp"
#include "root/policy/cluster/concurrency_limit.hpp"

namespace hedgerow::policy {

struct AdmissionSettings {
  ConcurrencyLimitSettings limit;
  std::size_t most_batch = 2;  // queries of batch in flight
  std::size_t most_waiting = 1024;  // of each class
  double wait_share = 0.5;  // of an interactive query's time: the longest that it waits
  double narrowest = 0.5;  // of the fan-out that was asked for; 1: never narrowed
  double skip_subsystems_from = 0.8, hold_batch_from = 0.9, narrow_from = 1.25, narrowest_from = 1.75;
  Duration pressure_half_life = std::chrono::milliseconds(250);
};

enum class AdmissionLevel { normal, subsystems, batch, fanout, refusing };

constexpr const char* to_string(AdmissionLevel level) {
  switch (level) {
    case AdmissionLevel::normal: return "normal";
    case AdmissionLevel::subsystems: return "subsystems";
    case AdmissionLevel::batch: return "batch";
    case AdmissionLevel::fanout: return "fanout";
    case AdmissionLevel::refusing: return "refusing";
  }
  return "normal";
}

class Admission {
 public:
  using Number = std::uint64_t;

  struct Query {
    ServiceClass service_class = ServiceClass::interactive;
    Instant received{};
    Instant deadline{};
  };
  enum class Entry { admitted, waits, refused };
  struct Verdict {
    Entry entry = Entry::refused;
    Number number = 0;    // of one that waits
    Instant give_up{};    // of one that waits: begun later, it could not be answered in time
  };
  // How a query that was let in ended.
  struct Ended {
    ServiceClass service_class = ServiceClass::interactive;
    Instant admitted{};
    Duration given{};       // from receipt to deadline
    bool ran = false;       // leaves were asked (or else it was a mistake, or answered from the cache: nothing is learnt)
    bool at_deadline = false;
    bool answered_all = false;   // in time, or as much as was good enough
    double answered = 1;         // share of the partitions that it asked
  };
  // What an admitted query is spared.
  struct Shedding {
    bool subsystems = false;
    double fanout = 1;  // share of the width that was asked for
  };

  // The load outlives this.
  Admission(const AdmissionSettings& settings, const ClusterLoad& load, Random random);

  Verdict on_arrival(const Query& query, Instant now);
  void on_ended(const Ended& ended, Instant now);
  // One that waited left: its time is over (it counts as refused), or its client is gone. No effect on one that was let in.
  void on_left(Number number, bool refused, Instant now);
  // An event of the root ran so long after it could have.
  void on_lag(Duration lag, Instant now);

  // After any event, until nullopt: a waiting query that is let in now.
  std::optional<Number> next(Instant now);

  // For one that is let in now.
  Shedding shedding(ServiceClass service_class, Instant now) const;
  // For one that is refused: whole seconds, by chance spread the wider the more are refused, so that they do not come
  // back together.
  int retry_after_seconds(Instant now);

  AdmissionLevel level(Instant now) const;
  double pressure(Instant now) const;
  std::size_t limit() const { return limit_.limit(); }
  OverloadSign sign() const { return limit_.sign(); }
  std::size_t in_flight(ServiceClass service_class) const { return in_flight_[index(service_class)]; }
  std::size_t waiting(ServiceClass service_class) const { return waiting_[index(service_class)].size(); }
  const AdmissionSettings& settings() const { return settings_; }
  const ConcurrencyLimit& concurrency_limit() const { return limit_; }

 private:
  // By deadline, then in order of arrival; the instant is the give_up.
  using Waiting = std::map<std::pair<Instant, Number>, Instant>;
  static std::size_t index(ServiceClass service_class) { return static_cast<std::size_t>(service_class); }

  void look_around(Instant now);
  void let_in(ServiceClass service_class);
  bool may_begin(ServiceClass service_class, Instant now) const;
  std::optional<Number> take(ServiceClass service_class, Instant now);
  Duration expected_wait(ServiceClass service_class, std::size_t ahead) const;
  Duration needed(ServiceClass service_class) const;
  Duration longest_wait(Duration given) const;
  double pressure_now() const;
  void press(Instant now);

  AdmissionSettings settings_;
  const ClusterLoad& load_;
  Random random_;
  ConcurrencyLimit limit_;
  std::array<std::size_t, 2> in_flight_{};
  std::array<Waiting, 2> waiting_;
  std::map<Number, std::pair<ServiceClass, Instant>> deadlines_;  // of the waiting
  Number last_number_ = 0;
  // Recent averages, of interactive and batch: how long a query is in flight; how long one that gets all its answers, and
  // how far from that they are.
  std::array<double, 2> hold_seconds_{}, need_seconds_{}, need_deviation_{};
  double pressure_ = 0;
  Instant pressed_{};
  // Recent refusals over recent ends, both decaying.
  double refused_ = 0, ended_ = 0;
  Instant counted_{};
  void forget_counts(Instant now);
};

}  // namespace hedgerow::policy
