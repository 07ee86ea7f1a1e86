#include "leaf/metrics.hpp"

#include <string>

namespace hedgerow::leaf {

namespace {

std::string word(WorkKind kind) { return std::string(to_string(kind)); }
prometheus::Counter& outcomes(prometheus::Registry& registry, WorkKind kind, const char* outcome) {
  return counter(registry, "hedgerow_leaf_work_total", "Work by what became of it.",
                 {{"work", word(kind)}, {"outcome", outcome}});
}
prometheus::Counter& faults(prometheus::Registry& registry, const char* kind) {
  return counter(registry, "hedgerow_leaf_faults_total", "Faults injected.", {{"kind", kind}});
}

}  // namespace

WorkMetrics::WorkMetrics(prometheus::Registry& registry, WorkKind kind)
    : answered(outcomes(registry, kind, "answered")),
      refused(outcomes(registry, kind, "refused")),
      expired(outcomes(registry, kind, "expired")),
      cancelled_queued(outcomes(registry, kind, "cancelled_queued")),
      cancelled_running(outcomes(registry, kind, "cancelled_running")),
      failed(outcomes(registry, kind, "failed")),
      executed(counter(registry, "hedgerow_leaf_work_executed_total", "Work handed to the engine, whatever came of it.",
                       {{"work", word(kind)}})),
      wasted(counter(registry, "hedgerow_leaf_work_wasted_total", "Work executed to the end for nobody.",
                     {{"work", word(kind)}})),
      queue_seconds(latency_histogram(registry, "hedgerow_leaf_queue_seconds", "Time that executed work waited.",
                                      {{"work", word(kind)}})),
      service_seconds(latency_histogram(registry, "hedgerow_leaf_service_seconds", "Time that work took on a worker.",
                                        {{"work", word(kind)}})) {}

Metrics::Metrics()
    : work([this] {
        std::vector<WorkMetrics> all;
        for (const auto kind : work_kinds) all.emplace_back(registry, kind);
        return all;
      }()),
      protocol_errors(counter(registry, "hedgerow_leaf_protocol_errors_total", "Links ended for breaking the protocol.")),
      faults_late(faults(registry, "late")),
      faults_hold(faults(registry, "hold")),
      faults_error(faults(registry, "error")),
      queued_hits(gauge(registry, "hedgerow_leaf_queued_attempts", "Attempts and fetches waiting for a worker.")),
      running_hits(gauge(registry, "hedgerow_leaf_running_attempts", "Attempts and fetches on a worker.")),
      queued_side(gauge(registry, "hedgerow_leaf_queued_side_work", "Side work waiting for a worker.")),
      running_side(gauge(registry, "hedgerow_leaf_running_side_work", "Side work on a worker.")),
      links(gauge(registry, "hedgerow_leaf_links", "Open links.")) {}

}  // namespace hedgerow::leaf
