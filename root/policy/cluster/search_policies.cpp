#include "root/policy/cluster/search_policies.hpp"

namespace hedgerow::policy {

SearchPolicies::SearchPolicies(const SearchPolicySettings& settings, std::uint64_t seed)
    : replica_choice(Random(seed), settings.replica_choice),
      retry_budget(settings.retry_fill, settings.retry_depth),
      hedging(settings.hedge, latencies, load) {}

void SearchPolicies::on_sent(LeafId leaf, AttemptKind kind, Instant now) {
  replica_choice.on_sent(leaf);
  if (kind == AttemptKind::primary || kind == AttemptKind::tied) {
    retry_budget.on_primary();
    hedging.on_primary(leaf, now);
  }
}

void SearchPolicies::on_answered(LeafId leaf, AttemptKind, Duration latency, const AttemptReport& report, Instant now) {
  replica_choice.on_ended(leaf);
  replica_choice.on_answered(leaf, latency, report, now);
  latencies.on_answered(leaf, latency, now);
  load.on_answered(leaf, report, now);
  round_trip.record(std::max(Duration::zero(), latency - report.queue_time - report.service_time), now);
}

void SearchPolicies::on_given_up(LeafId leaf, AttemptKind, Duration latency, Instant now) {
  replica_choice.on_ended(leaf);
  replica_choice.on_unanswered(leaf, latency, now);
  latencies.on_given_up(leaf, latency, now);
}

void SearchPolicies::on_failed(LeafId leaf, AttemptKind, AttemptFailure failure, Instant now) {
  replica_choice.on_ended(leaf);
  if (failure == AttemptFailure::bad_query || failure == AttemptFailure::superseded) return;  // not the leaf's fault
  replica_choice.on_failed(leaf, now);
  load.on_failed(leaf, failure == AttemptFailure::refused, now);
}

}  // namespace hedgerow::policy
