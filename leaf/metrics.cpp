#include "leaf/metrics.hpp"

namespace hedgerow::leaf {

namespace {

prometheus::Counter& attempts(prometheus::Registry& registry, const char* outcome) {
  return counter(registry, "hedgerow_leaf_attempts_total", "Attempts by what became of them.", {{"outcome", outcome}});
}
prometheus::Counter& fetches(prometheus::Registry& registry, const char* outcome) {
  return counter(registry, "hedgerow_leaf_fetches_total", "Fetches by what became of them.", {{"outcome", outcome}});
}
prometheus::Counter& faults(prometheus::Registry& registry, const char* kind) {
  return counter(registry, "hedgerow_leaf_faults_total", "Faults injected.", {{"kind", kind}});
}

}  // namespace

Metrics::Metrics()
    : attempts_answered(attempts(registry, "answered")),
      attempts_refused(attempts(registry, "refused")),
      attempts_expired(attempts(registry, "expired")),
      attempts_cancelled_queued(attempts(registry, "cancelled_queued")),
      attempts_cancelled_running(attempts(registry, "cancelled_running")),
      attempts_failed(attempts(registry, "failed")),
      attempts_executed(counter(registry, "hedgerow_leaf_attempts_executed_total",
                                "Attempts handed to the engine, whatever came of them.")),
      attempts_wasted(counter(registry, "hedgerow_leaf_attempts_wasted_total",
                              "Attempts executed to the end for nobody.")),
      fetches_answered(fetches(registry, "answered")),
      fetches_failed(fetches(registry, "failed")),
      protocol_errors(counter(registry, "hedgerow_leaf_protocol_errors_total", "Links ended for breaking the protocol.")),
      faults_late(faults(registry, "late")),
      faults_hold(faults(registry, "hold")),
      faults_error(faults(registry, "error")),
      queued(gauge(registry, "hedgerow_leaf_queued_attempts", "Attempts and fetches waiting for a worker.")),
      running(gauge(registry, "hedgerow_leaf_running_attempts", "Attempts and fetches on a worker.")),
      links(gauge(registry, "hedgerow_leaf_links", "Open links.")),
      queue_seconds(latency_histogram(registry, "hedgerow_leaf_queue_seconds", "Time that attempts waited.")),
      service_seconds(latency_histogram(registry, "hedgerow_leaf_service_seconds", "Time that attempts took on a worker.")),
      fetch_seconds(latency_histogram(registry, "hedgerow_leaf_fetch_seconds", "Time that fetches took, waiting included.")) {}

}  // namespace hedgerow::leaf
