#include "leaf/metrics.hpp"

#include <string>

namespace hedgerow::leaf {

namespace {

std::string word(WorkKind kind) { return std::string(to_string(kind)); }
prometheus::Counter& outcomes(prometheus::Registry& registry, WorkKind kind, const char* outcome) {
  return counter(registry, "hedgerow_leaf_work_total", "Work by what became of it.",
                 {{"work", word(kind)}, {"outcome", outcome}});
}
prometheus::Counter& cancelled(prometheus::Registry& registry, AttemptKind kind, const char* when) {
  return counter(registry, "hedgerow_leaf_attempts_cancelled_total",
                 "Attempts that nobody wanted any more, by how far they had come: in the queue (in time), running (too "
                 "late), executed to the end (for nothing).",
                 {{"kind", std::string(to_string(kind))}, {"when", when}});
}
prometheus::Counter& ties(prometheus::Registry& registry, const char* outcome) {
  return counter(registry, "hedgerow_leaf_ties_total", "Tied attempts, by what came of the tie here.", {{"outcome", outcome}});
}
prometheus::Gauge& twin_links(prometheus::Registry& registry, const char* direction) {
  return gauge(registry, "hedgerow_leaf_twin_links", "Links to and from other leaves.", {{"direction", direction}});
}

}  // namespace

WorkMetrics::WorkMetrics(prometheus::Registry& registry, WorkKind kind)
    : answered(outcomes(registry, kind, "answered")),
      refused(outcomes(registry, kind, "refused")),
      expired(outcomes(registry, kind, "expired")),
      too_little_time(outcomes(registry, kind, "too_little_time")),
      superseded(outcomes(registry, kind, "superseded")),
      cancelled_queued(outcomes(registry, kind, "cancelled_queued")),
      cancelled_running(outcomes(registry, kind, "cancelled_running")),
      failed(outcomes(registry, kind, "failed")),
      swallowed(outcomes(registry, kind, "swallowed")),
      executed(counter(registry, "hedgerow_leaf_work_executed_total", "Work handed to the engine, whatever came of it.",
                       {{"work", word(kind)}})),
      wasted(counter(registry, "hedgerow_leaf_work_wasted_total", "Work executed to the end for nobody.",
                     {{"work", word(kind)}})),
      queue_seconds(latency_histogram(registry, "hedgerow_leaf_queue_seconds", "Time that executed work waited.",
                                      {{"work", word(kind)}})),
      service_seconds(latency_histogram(registry, "hedgerow_leaf_service_seconds", "Time that work took on a worker.",
                                        {{"work", word(kind)}})) {}

AttemptMetrics::AttemptMetrics(prometheus::Registry& registry, AttemptKind kind)
    : cancelled_queued(cancelled(registry, kind, "queued")),
      cancelled_running(cancelled(registry, kind, "running")),
      cancelled_executed(cancelled(registry, kind, "executed")) {}

TieMetrics::TieMetrics(prometheus::Registry& registry)
    : told(hedgerow::leaf::ties(registry, "told")),
      relayed(hedgerow::leaf::ties(registry, "relayed")),
      untold(hedgerow::leaf::ties(registry, "untold")),
      dropped(hedgerow::leaf::ties(registry, "dropped")),
      raced(hedgerow::leaf::ties(registry, "raced")) {}

FaultMetrics::FaultMetrics(prometheus::Registry& registry, FaultKind kind)
    : applied(counter(registry, "hedgerow_leaf_faults_total",
                      "Faults injected: pieces of work that met one, and beginnings of pauses and background work.",
                      {{"kind", std::string(to_string(kind))}})),
      seconds(counter(registry, "hedgerow_leaf_fault_seconds_total",
                      "Time that faults added (late, hold), burnt (burn), or went on for (pause, background).",
                      {{"kind", std::string(to_string(kind))}})) {}

void Metrics::count_cancelled(WorkKind kind, std::optional<AttemptKind> attempt_kind, Cancelled when) {
  WorkMetrics& metrics = of(kind);
  (when == Cancelled::queued    ? metrics.cancelled_queued
   : when == Cancelled::running ? metrics.cancelled_running
                                : metrics.wasted)
      .Increment();
  if (attempt_kind) count_attempts_cancelled(*attempt_kind, when, 1);
}

void Metrics::count_attempts_cancelled(AttemptKind kind, Cancelled when, std::size_t number) {
  AttemptMetrics& metrics = attempts[static_cast<std::size_t>(kind)];
  (when == Cancelled::queued    ? metrics.cancelled_queued
   : when == Cancelled::running ? metrics.cancelled_running
                                : metrics.cancelled_executed)
      .Increment(static_cast<double>(number));
}

Metrics::Metrics()
    : work([this] {
        std::vector<WorkMetrics> all;
        for (const auto kind : work_kinds) all.emplace_back(registry, kind);
        return all;
      }()),
      attempts([this] {
        std::vector<AttemptMetrics> all;
        for (std::size_t kind = 0; kind < attempt_kinds; ++kind) {
          all.emplace_back(registry, static_cast<AttemptKind>(kind));
        }
        return all;
      }()),
      ties(registry),
      protocol_errors(counter(registry, "hedgerow_leaf_protocol_errors_total", "Links ended for breaking the protocol.")),
      light_calls(counter(registry, "hedgerow_leaf_light_calls_total",
                          "Calls so light that the thread that read them did them, in place of a worker.")),
      faults([this] {
        std::vector<FaultMetrics> all;
        for (const auto kind : fault_kinds) all.emplace_back(registry, kind);
        return all;
      }()),
      faults_set(gauge(registry, "hedgerow_leaf_faults_set", "Faults in the list, whether they act at the moment or not.")),
      queued_hits(gauge(registry, "hedgerow_leaf_queued_attempts", "Attempts and fetches waiting for a worker.")),
      running_hits(gauge(registry, "hedgerow_leaf_running_attempts", "Attempts and fetches on a worker.")),
      queued_side(gauge(registry, "hedgerow_leaf_queued_side_work", "Side work waiting for a worker.")),
      running_side(gauge(registry, "hedgerow_leaf_running_side_work", "Side work on a worker.")),
      queued_batch(gauge(registry, "hedgerow_leaf_queued_batch_work", "Batch work of all kinds waiting for a worker.")),
      running_batch(gauge(registry, "hedgerow_leaf_running_batch_work", "Batch work of all kinds on a worker.")),
      links(gauge(registry, "hedgerow_leaf_links", "Open links of roots.")),
      twin_links_in(twin_links(registry, "in")),
      twin_links_out(twin_links(registry, "out")) {}

}  // namespace hedgerow::leaf
