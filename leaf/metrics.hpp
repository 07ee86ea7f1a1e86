// Everything that a leaf counts, declared together. Thread-safe (prometheus-cpp's counters are atomic).
#pragma once

#include <memory>

#include "base/metrics.hpp"

namespace hedgerow::leaf {

struct Metrics {
  Metrics();

  prometheus::Registry registry;
  prometheus::Counter& attempts_answered;
  prometheus::Counter& attempts_refused;
  prometheus::Counter& attempts_expired;           // their time was over before they began: never executed
  prometheus::Counter& attempts_cancelled_queued;  // cancelled in time
  prometheus::Counter& attempts_cancelled_running; // stopped while running
  prometheus::Counter& attempts_failed;
  prometheus::Counter& attempts_executed;          // handed to the engine, whatever came of it
  prometheus::Counter& attempts_wasted;            // executed to the end, and then nobody wanted it
  prometheus::Counter& fetches_answered;
  prometheus::Counter& fetches_failed;
  prometheus::Counter& protocol_errors;
  prometheus::Counter& faults_late;
  prometheus::Counter& faults_hold;
  prometheus::Counter& faults_error;
  prometheus::Gauge& queued;
  prometheus::Gauge& running;
  prometheus::Gauge& links;
  prometheus::Histogram& queue_seconds;
  prometheus::Histogram& service_seconds;
  prometheus::Histogram& fetch_seconds;
};

}  // namespace hedgerow::leaf
