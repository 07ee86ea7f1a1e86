// Everything that the root counts, declared together.
#pragma once

#include <array>

#include "base/attempt.hpp"
#include "base/metrics.hpp"
#include "root/attempt_ending.hpp"
#include "root/policy/cluster/hedging.hpp"
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
  prometheus::Counter& queries_quarantined;  // 422
  prometheus::Histogram& query_seconds;
  prometheus::Histogram& second_phase_seconds;
  prometheus::Histogram& completeness;
  prometheus::Gauge& queries_in_flight;

  // Admission; see policy/cluster/admission. By service class, where there are two.
  prometheus::Gauge& admission_limit;
  prometheus::Gauge& admission_level;  // 0 normal to 4 refusing
  std::array<prometheus::Gauge*, 2> queries_waiting;
  std::array<prometheus::Counter*, 2> queries_refused_on_arrival, queries_refused_after_waiting;
  std::array<prometheus::Histogram*, 2> waiting_seconds;
  prometheus::Counter& queries_shed_subsystems;
  prometheus::Counter& queries_shed_fanout;

  // By AttemptKind; and by AttemptEnding, of attempts whose leaf has said its last word on them. Of hedges, "answered" are
  // those that won, "late" and "cancelled_running" those that were executed for nothing.
  std::array<prometheus::Counter*, attempt_kinds> attempts_sent;
  std::array<std::array<prometheus::Counter*, attempt_endings>, attempt_kinds> attempts_ended;
  prometheus::Counter& attempts_cancelled;
  prometheus::Counter& retries_refused_by_budget;
  prometheus::Counter& hedges_refused_by_budget;
  prometheus::Gauge& hedge_budget_tokens;
  // By policy::HedgeObstacle: queries that were given no hedges and hedges that were due and not sent, for it; and what
  // holds now (1, others 0).
  std::array<prometheus::Counter*, policy::hedge_obstacles> hedges_suppressed;
  std::array<prometheus::Gauge*, policy::hedge_obstacles> hedge_obstacle;
  prometheus::Counter& tied_pairs;
  prometheus::Counter& tied_both_began;  // the race that tied requests cannot wholly exclude: both halves were executed
  prometheus::Counter& answers_late;  // came when nobody waited: counted, never merged
  prometheus::Histogram& attempt_seconds;
  prometheus::Counter& second_phase_hits_lost;
  prometheus::Counter& titles_with_hits;  // of hits when they are first asked for: whether their titles had come along
  prometheus::Counter& titles_fetched;

  // By policy::SubsystemKind and policy::SubsystemStatus.
  std::array<std::array<prometheus::Counter*, 5>, policy::subsystem_kinds> subsystem_queries;
  std::array<prometheus::Histogram*, policy::subsystem_kinds> subsystem_seconds;

  // Canary requests; see policy/cluster/canaries. By policy::CanaryVerdict.
  std::array<prometheus::Counter*, 6> canary_verdicts;
  prometheus::Histogram& canary_seconds;
  prometheus::Counter& canary_followers;
  prometheus::Counter& canaries_lifted;
  prometheus::Gauge& canary_trials;
  prometheus::Gauge& safe_queries;
  prometheus::Gauge& quarantined_queries;

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
