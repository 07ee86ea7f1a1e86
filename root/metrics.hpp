// Everything that the root counts, declared together.
#pragma once

#include <array>

#include "base/metrics.hpp"
#include "root/policy/query/subsystems.hpp"

namespace hedgerow::root {

struct Metrics {
  Metrics();

  prometheus::Registry registry;

  // Queries by how they ended.
  prometheus::Counter& queries_complete;
  prometheus::Counter& queries_good_enough;
  prometheus::Counter& queries_deadline;
  prometheus::Counter& queries_exhausted;
  prometheus::Counter& queries_rejected;   // 4xx
  prometheus::Counter& queries_failed;     // 500: ours
  prometheus::Counter& queries_refused;    // 503 for load, or because nobody is there
  prometheus::Counter& queries_timed_out;  // 504
  prometheus::Counter& queries_client_gone;
  prometheus::Histogram& query_seconds;
  prometheus::Histogram& second_phase_seconds;
  prometheus::Histogram& completeness;
  prometheus::Gauge& queries_in_flight;

  prometheus::Counter& attempts_primary;
  prometheus::Counter& attempts_retry;
  prometheus::Counter& attempts_cancelled;
  prometheus::Counter& retries_refused_by_budget;
  prometheus::Counter& answers_late;  // came when nobody waited: counted, never merged
  prometheus::Histogram& attempt_seconds;
  prometheus::Counter& second_phase_hits_lost;

  // By policy::SubsystemKind and policy::SubsystemStatus.
  std::array<std::array<prometheus::Counter*, 5>, policy::subsystem_kinds> subsystem_queries;
  std::array<prometheus::Histogram*, policy::subsystem_kinds> subsystem_seconds;

  prometheus::Counter& cache_hits;
  prometheus::Counter& cache_misses;
  prometheus::Counter& cache_evictions;
  prometheus::Gauge& cache_bytes;
  prometheus::Gauge& cache_answers;

  prometheus::Histogram& document_seconds;

  prometheus::Counter& links_lost;
  prometheus::Counter& links_dropped_for_protocol;
  prometheus::Gauge& leaves_serving;

  // A timer that runs beside the queries: how late this process's own clock ticks come.
  prometheus::Histogram& timer_lateness_seconds;
};

}  // namespace hedgerow::root
