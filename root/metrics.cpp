#include "root/metrics.hpp"

namespace hedgerow::root {

namespace {

prometheus::Counter& queries(prometheus::Registry& registry, const char* outcome) {
  return counter(registry, "hedgerow_root_queries_total", "Queries by how they ended.", {{"outcome", outcome}});
}
prometheus::Counter& attempts(prometheus::Registry& registry, const char* kind) {
  return counter(registry, "hedgerow_root_attempts_total", "Attempts sent, by kind.", {{"kind", kind}});
}

prometheus::Histogram& completeness_histogram(prometheus::Registry& registry) {
  return prometheus::BuildHistogram()
      .Name("hedgerow_root_completeness_ratio")
      .Help("Share of the collection's documents that an answer looked at.")
      .Register(registry)
      .Add({}, prometheus::Histogram::BucketBoundaries{0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999999, 1});
}

}  // namespace

Metrics::Metrics()
    : queries_complete(queries(registry, "complete")),
      queries_good_enough(queries(registry, "good_enough")),
      queries_deadline(queries(registry, "deadline")),
      queries_exhausted(queries(registry, "exhausted")),
      queries_rejected(queries(registry, "rejected")),
      queries_failed(queries(registry, "failed")),
      queries_refused(queries(registry, "refused")),
      queries_timed_out(queries(registry, "timed_out")),
      queries_client_gone(queries(registry, "client_gone")),
      query_seconds(latency_histogram(registry, "hedgerow_root_query_seconds", "Time from request to answer.")),
      second_phase_seconds(
          latency_histogram(registry, "hedgerow_root_second_phase_seconds", "Time to fetch the final hits' titles.")),
      completeness(completeness_histogram(registry)),
      queries_in_flight(gauge(registry, "hedgerow_root_queries_in_flight", "Queries being answered.")),
      attempts_primary(attempts(registry, "primary")),
      attempts_retry(attempts(registry, "retry")),
      attempts_cancelled(counter(registry, "hedgerow_root_attempts_cancelled_total",
                                 "Attempts cancelled: their time was over, or their client gone.")),
      retries_refused_by_budget(
          counter(registry, "hedgerow_root_retries_refused_total", "Retries that the budget did not allow.")),
      answers_late(counter(registry, "hedgerow_root_answers_late_total",
                           "Answers that came when nobody waited: counted, never merged.")),
      attempt_seconds(latency_histogram(registry, "hedgerow_root_attempt_seconds", "Time from sending an attempt to its answer.")),
      second_phase_hits_lost(counter(registry, "hedgerow_root_second_phase_hits_lost_total",
                                     "Hits left out because their titles could not be fetched in time.")),
      cache_hits(counter(registry, "hedgerow_root_cache_hits_total", "Queries answered from the results cache.")),
      cache_misses(counter(registry, "hedgerow_root_cache_misses_total", "Queries that looked into the results cache in vain.")),
      cache_evictions(counter(registry, "hedgerow_root_cache_evictions_total", "Answers that made room for newer ones.")),
      cache_bytes(gauge(registry, "hedgerow_root_cache_bytes", "What the answers in the results cache weigh.")),
      cache_answers(gauge(registry, "hedgerow_root_cache_answers", "Answers in the results cache.")),
      document_seconds(latency_histogram(registry, "hedgerow_root_document_seconds",
                                         "Time to find a document by its id, for itself or for what is like it.")),
      links_lost(counter(registry, "hedgerow_root_links_lost_total", "Links to leaves that broke.")),
      links_dropped_for_protocol(counter(registry, "hedgerow_root_links_dropped_total",
                                         "Links closed because the leaf sent what the protocol does not allow.")),
      leaves_serving(gauge(registry, "hedgerow_root_leaves_serving", "Leaves whose link is up.")),
      timer_lateness_seconds(latency_histogram(registry, "hedgerow_root_timer_lateness_seconds",
                                               "How late a control timer's ticks come.")) {
  for (std::size_t i = 0; i < policy::subsystem_kinds; ++i) {
    const std::string name(to_string(static_cast<policy::SubsystemKind>(i)));
    for (std::size_t status = 0; status < subsystem_queries[i].size(); ++status) {
      subsystem_queries[i][status] =
          &counter(registry, "hedgerow_root_subsystem_queries_total", "Queries by how an optional subsystem ended.",
                   {{"subsystem", name}, {"status", std::string(to_string(static_cast<policy::SubsystemStatus>(status)))}});
    }
    subsystem_seconds[i] = &latency_histogram(registry, "hedgerow_root_subsystem_seconds",
                                              "What an optional subsystem took of a query, where it was ok.", {{"subsystem", name}});
  }
}

}  // namespace hedgerow::root
