#include "root/metrics.hpp"

#include "root/policy/query/canary.hpp"

namespace hedgerow::root {

namespace {

prometheus::Counter& queries(prometheus::Registry& registry, const char* outcome) {
  return counter(registry, "hedgerow_root_queries_total", "Queries by how they ended.", {{"outcome", outcome}});
}

prometheus::Counter& shed(prometheus::Registry& registry, const char* what) {
  return counter(registry, "hedgerow_root_queries_shed_total", "Queries that were spared something for load, by what.", {{"what", what}});
}

prometheus::Counter& titles(prometheus::Registry& registry, const char* way) {
  return counter(registry, "hedgerow_root_titles_total", "Titles of hits that were to be shown, by the way they came.", {{"way", way}});
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
      queries_quarantined(queries(registry, "quarantined")),
      query_seconds(latency_histogram(registry, "hedgerow_root_query_seconds", "Time from request to answer.")),
      second_phase_seconds(
          latency_histogram(registry, "hedgerow_root_second_phase_seconds", "Time to fetch the final hits' titles.")),
      completeness(completeness_histogram(registry)),
      queries_in_flight(gauge(registry, "hedgerow_root_queries_in_flight", "Queries being answered.")),
      admission_limit(gauge(registry, "hedgerow_root_admission_limit", "Interactive queries that may be in flight.")),
      admission_level(gauge(registry, "hedgerow_root_admission_level",
                            "What is shed: 0 nothing, 1 subsystems, 2 batch, 3 fan-out, 4 queries are refused.")),
      queries_shed_subsystems(shed(registry, "subsystems")),
      queries_shed_fanout(shed(registry, "fanout")),
      attempts_cancelled(counter(registry, "hedgerow_root_attempts_cancelled_total",
                                 "Attempts cancelled: their time was over, or their client gone.")),
      retries_refused_by_budget(
          counter(registry, "hedgerow_root_retries_refused_total", "Retries that the budget did not allow.")),
      hedges_refused_by_budget(
          counter(registry, "hedgerow_root_hedges_refused_total", "Hedges that were due, and that the budget did not allow.")),
      hedge_budget_tokens(gauge(registry, "hedgerow_root_hedge_budget_tokens", "Hedges that the budget allows at the moment.")),
      tied_pairs(counter(registry, "hedgerow_root_tied_pairs_total", "Partitions asked of two leaves that were told of each other.")),
      tied_both_began(counter(registry, "hedgerow_root_tied_both_began_total",
                              "Tied pairs of which both halves were executed.")),
      answers_late(counter(registry, "hedgerow_root_answers_late_total",
                           "Answers that came when nobody waited: counted, never merged.")),
      attempt_seconds(latency_histogram(registry, "hedgerow_root_attempt_seconds", "Time from sending an attempt to its answer.")),
      second_phase_hits_lost(counter(registry, "hedgerow_root_second_phase_hits_lost_total",
                                     "Hits left out because their titles could not be fetched in time.")),
      titles_with_hits(titles(registry, "with_hit")),
      titles_fetched(titles(registry, "fetched")),
      canary_seconds(latency_histogram(registry, "hedgerow_root_canary_seconds", "Time from the begin of a query's trial to its verdict.")),
      canary_followers(counter(registry, "hedgerow_root_canary_followers_total",
                               "Queries that waited for the trial of another one that asked the same.")),
      canaries_lifted(counter(registry, "hedgerow_root_quarantine_lifted_total",
                              "Quarantines lifted because what looked like a hang was answered after all.")),
      canary_trials(gauge(registry, "hedgerow_root_canary_trials", "Trials under way, or listening after their verdict.")),
      safe_queries(gauge(registry, "hedgerow_root_safe_queries", "Queries known to be safe, so that they need no canary.")),
      quarantined_queries(gauge(registry, "hedgerow_root_quarantined_queries", "Queries in quarantine.")),
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
  for (const auto service_class : {ServiceClass::interactive, ServiceClass::batch}) {
    const auto i = static_cast<std::size_t>(service_class);
    const std::string name(to_string(service_class));
    const auto refused = [&](const char* when) {
      return &counter(registry, "hedgerow_root_queries_refused_for_load_total", "Queries that admission refused, by class and when.",
                      {{"class", name}, {"when", when}});
    };
    queries_refused_on_arrival[i] = refused("on_arrival");
    queries_refused_after_waiting[i] = refused("after_waiting");
    queries_waiting[i] = &gauge(registry, "hedgerow_root_queries_waiting", "Queries in the waiting room.", {{"class", name}});
    waiting_seconds[i] = &latency_histogram(registry, "hedgerow_root_waiting_seconds",
                                            "Time in the waiting room of those that waited.", {{"class", name}});
  }
  for (std::size_t i = 0; i < canary_verdicts.size(); ++i) {
    canary_verdicts[i] = &counter(registry, "hedgerow_root_canary_verdicts_total", "Trials of queries by how they ended.",
                                  {{"verdict", std::string(to_string(static_cast<policy::CanaryVerdict>(i)))}});
  }
  for (std::size_t i = 0; i < attempt_kinds; ++i) {
    const std::string kind(to_string(static_cast<AttemptKind>(i)));
    attempts_sent[i] = &counter(registry, "hedgerow_root_attempts_total", "Attempts sent, by kind.", {{"kind", kind}});
    for (std::size_t ending = 0; ending < attempt_endings; ++ending) {
      attempts_ended[i][ending] =
          &counter(registry, "hedgerow_root_attempts_ended_total", "Attempts by kind, and by what their leaf said last of them.",
                   {{"kind", kind}, {"outcome", std::string(to_string(static_cast<AttemptEnding>(ending)))}});
    }
  }
  for (std::size_t i = 0; i < policy::hedge_obstacles; ++i) {
    const std::string name(to_string(static_cast<policy::HedgeObstacle>(i)));
    hedges_suppressed[i] = &counter(registry, "hedgerow_root_hedges_suppressed_total",
                                    "Queries given no hedges, and hedges that were due and not sent, by what stood in the way.",
                                    {{"obstacle", name}});
    hedge_obstacle[i] = &gauge(registry, "hedgerow_root_hedge_obstacle",
                               "What stands in the way of hedging at the moment: 1 for that, 0 for all others.", {{"obstacle", name}});
  }
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
