// Everything that a leaf counts, declared together. Thread-safe (prometheus-cpp's counters are atomic).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/attempt.hpp"
#include "base/metrics.hpp"
#include "leaf/fault.hpp"
#include "leaf/work_kind.hpp"

namespace hedgerow::leaf {

// Of one kind of work. A piece of work is a partition of a search or of a facet call, and otherwise a call.
struct WorkMetrics {
  WorkMetrics(prometheus::Registry& registry, WorkKind kind);

  prometheus::Counter& answered;
  prometheus::Counter& refused;
  prometheus::Counter& expired;            // its time was over before it began (never executed), or while it ran a hold
  prometheus::Counter& too_little_time;    // so little was left when its turn came that it was not begun
  prometheus::Counter& superseded;         // its twin on another leaf began first
  prometheus::Counter& cancelled_queued;   // cancelled in time
  prometheus::Counter& cancelled_running;  // stopped while running
  prometheus::Counter& failed;
  prometheus::Counter& swallowed;          // by an injected black hole, or answered with injected garbage
  prometheus::Counter& executed;           // handed to the engine, whatever came of it
  prometheus::Counter& wasted;             // executed to the end, and then nobody wanted it
  prometheus::Histogram& queue_seconds;
  prometheus::Histogram& service_seconds;
};

// How far work had come when nobody wanted it any more.
enum class Cancelled : std::uint8_t {
  queued,    // in time: it was never begun
  running,   // too late, and stopped
  executed,  // too late altogether: executed to the end for nothing
};

// Of one kind of attempt (a partition of a search).
struct AttemptMetrics {
  AttemptMetrics(prometheus::Registry& registry, AttemptKind kind);
  prometheus::Counter& cancelled_queued;
  prometheus::Counter& cancelled_running;
  prometheus::Counter& cancelled_executed;
};

// Tied attempts, by what came of the tie here.
struct TieMetrics {
  explicit TieMetrics(prometheus::Registry& registry);
  prometheus::Counter& told;     // begun here, and the twin's leaf was told
  prometheus::Counter& relayed;  // the root was told instead
  prometheus::Counter& untold;   // nobody could be told, or it was over by then
  prometheus::Counter& dropped;  // the twin began first: the copy here was let go
  prometheus::Counter& raced;    // the twin began, but so had the copy here
};

// Of one kind of injected fault.
struct FaultMetrics {
  FaultMetrics(prometheus::Registry& registry, FaultKind kind);
  prometheus::Counter& applied;  // to pieces of work; of pause and background how often they began
  prometheus::Counter& seconds;  // of delay (late, hold), of processor time (burn), of going on (pause, background)
};

struct Metrics {
  Metrics();

  WorkMetrics& of(WorkKind kind) { return work[static_cast<std::size_t>(kind)]; }
  FaultMetrics& of(FaultKind kind) { return faults[static_cast<std::size_t>(kind)]; }
  void count_cancelled(WorkKind kind, std::optional<AttemptKind> attempt_kind, Cancelled when);
  void count_attempts_cancelled(AttemptKind kind, Cancelled when, std::size_t number);

  prometheus::Registry registry;
  std::vector<WorkMetrics> work;         // by kind
  std::vector<AttemptMetrics> attempts;  // by kind
  TieMetrics ties;
  prometheus::Counter& protocol_errors;
  prometheus::Counter& light_calls;
  std::vector<FaultMetrics> faults;  // by kind
  prometheus::Gauge& faults_set;
  prometheus::Gauge& queued_hits;
  prometheus::Gauge& running_hits;
  prometheus::Gauge& queued_side;
  prometheus::Gauge& running_side;
  prometheus::Gauge& queued_batch;
  prometheus::Gauge& running_batch;
  prometheus::Gauge& links;
  prometheus::Gauge& twin_links_in;
  prometheus::Gauge& twin_links_out;
};

}  // namespace hedgerow::leaf
