// Everything that a leaf counts, declared together. Thread-safe (prometheus-cpp's counters are atomic).
#pragma once

#include <memory>
#include <vector>

#include "base/metrics.hpp"
#include "leaf/work_kind.hpp"

namespace hedgerow::leaf {

// Of one kind of work. A piece of work is a partition of a search or of a facet call, and otherwise a call.
struct WorkMetrics {
  WorkMetrics(prometheus::Registry& registry, WorkKind kind);

  prometheus::Counter& answered;
  prometheus::Counter& refused;
  prometheus::Counter& expired;            // its time was over before it began (never executed), or while it ran a hold
  prometheus::Counter& cancelled_queued;   // cancelled in time
  prometheus::Counter& cancelled_running;  // stopped while running
  prometheus::Counter& failed;
  prometheus::Counter& executed;           // handed to the engine, whatever came of it
  prometheus::Counter& wasted;             // executed to the end, and then nobody wanted it
  prometheus::Histogram& queue_seconds;
  prometheus::Histogram& service_seconds;
};

struct Metrics {
  Metrics();

  WorkMetrics& of(WorkKind kind) { return work[static_cast<std::size_t>(kind)]; }

  prometheus::Registry registry;
  std::vector<WorkMetrics> work;  // by kind
  prometheus::Counter& protocol_errors;
  prometheus::Counter& faults_late;
  prometheus::Counter& faults_hold;
  prometheus::Counter& faults_error;
  prometheus::Gauge& queued_hits;
  prometheus::Gauge& running_hits;
  prometheus::Gauge& queued_side;
  prometheus::Gauge& running_side;
  prometheus::Gauge& links;
};

}  // namespace hedgerow::leaf
