#include "root/policy/cluster/search_policies.hpp"

#include <algorithm>

#include "root/policy/query/tied.hpp"

namespace hedgerow::policy {

namespace {

constexpr Duration tie_delay_holds = std::chrono::milliseconds(100);

}  // namespace

SearchPolicies::SearchPolicies(const SearchPolicySettings& settings, std::uint64_t seed)
    : replica_choice(Random(seed), settings.replica_choice),
      retry_budget(settings.retry_fill, settings.retry_depth),
      hedging(settings.hedge, latencies, load),
      random_(seed ^ 0x9e3779b97f4a7c15ULL) {}

void SearchPolicies::on_partition_asked(LeafId leaf, Instant now) {
  retry_budget.on_primary();
  hedging.on_primary(leaf, now);
}

void SearchPolicies::on_sent(LeafId leaf, AttemptKind, Instant) { replica_choice.on_sent(leaf); }

void SearchPolicies::on_answered(LeafId leaf, AttemptKind, const AttemptTime& time, const AttemptReport& report,
                                 Instant now) {
  // Partitions of one frame that run side by side are answered soon after each other, and took their time all the same.
  const Duration latency = std::max(time.since_turn, std::min(time.since_sent, report.service_time));
  replica_choice.on_ended(leaf);
  replica_choice.on_answered(leaf, latency, report, now);
  latencies.on_answered(leaf, latency, now);
  load.on_answered(leaf, report, now);
  round_trip.record(std::max(Duration::zero(), time.since_sent - report.queue_time - report.service_time), now);
}

void SearchPolicies::on_given_up(LeafId leaf, AttemptKind, Duration since_turn, Instant now) {
  replica_choice.on_ended(leaf);
  replica_choice.on_unanswered(leaf, since_turn, now);
  latencies.on_given_up(leaf, since_turn, now);
}

void SearchPolicies::on_failed(LeafId leaf, AttemptKind kind, AttemptFailure failure, Duration since_turn, Instant now) {
  if (failure == AttemptFailure::superseded || failure == AttemptFailure::expired) {
    on_given_up(leaf, kind, since_turn, now);
    return;
  }
  replica_choice.on_ended(leaf);
  if (failure == AttemptFailure::bad_query) return;  // not the leaf's fault
  if (failure == AttemptFailure::refused) {
    replica_choice.on_refused(leaf);
  } else {
    replica_choice.on_failed(leaf, now);
  }
  load.on_failed(leaf, failure == AttemptFailure::refused, now);
}

void SearchPolicies::on_silence(LeafId leaf, Duration since_turn, Instant now) {
  replica_choice.on_unanswered(leaf, since_turn, now);
}

Duration SearchPolicies::tie_delay(Instant now) {
  if (!tie_delay_read_ || now - *tie_delay_read_ >= tie_delay_holds) {
    const auto median = round_trip.quantile(0.5, now);
    tie_delay_ = policy::tie_delay(median.value_or(Duration::zero()));
    tie_delay_read_ = now;
  }
  return tie_delay_;
}

Duration SearchPolicies::later_than_healthy(LeafId leaf, const LatencyCurve& healthy, Instant now) {
  if (!latencies.is_sick(leaf, now) && !replica_choice.is_slow(leaf)) return Duration::zero();
  const auto usual = healthy.quantile(0.5);
  const auto known = replica_choice.latency(leaf);
  if (!usual || !known || *usual == LatencyModel::longer_than_known) return Duration::zero();
  return std::max(Duration::zero(), *known - *usual);
}

void SearchPolicies::set_hedge_budget(double fill, double depth, Instant) { hedging.set_budget(fill, depth); }

}  // namespace hedgerow::policy
