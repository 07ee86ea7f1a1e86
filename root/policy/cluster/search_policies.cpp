#include "root/policy/cluster/search_policies.hpp"

#include <algorithm>

#include "root/policy/query/tied.hpp"

namespace hedgerow::policy {

namespace {

constexpr Duration tie_delay_holds = std::chrono::milliseconds(100);
// Of recent round trips. By the median every other pair's word would come later than the second copy, and both might
// begin: with links that jitter by half, one pair in twenty did in a simulation.
constexpr double tie_quantile = 0.9;

}  // namespace

SearchPolicies::SearchPolicies(const SearchPolicySettings& settings, std::uint64_t seed)
    : replica_choice(Random(seed), settings.replica_choice),
      retry_budget(settings.retry_fill, settings.retry_depth),
      hedging(settings.hedge, latencies, load),
      random_(seed ^ 0x9e3779b97f4a7c15ULL) {}

void SearchPolicies::on_leaf_up(LeafId leaf) {
  if (records()) recorder_->line("up").add(leaf);
  replica_choice.on_leaf_up(leaf);
}

void SearchPolicies::on_leaf_down(LeafId leaf) {
  if (records()) recorder_->line("down").add(leaf);
  replica_choice.on_leaf_down(leaf);
}

void SearchPolicies::on_partition_asked(LeafId leaf, Instant now) {
  retry_budget.on_primary();
  hedging.on_primary(leaf, now);
}

std::optional<LeafId> SearchPolicies::choose(std::span<const LeafId> replicas, std::span<const LeafId> tried) {
  const auto chosen = replica_choice.choose(replicas, tried);
  if (records()) {
    auto line = recorder_->line("choose");
    line.add(replicas).add(tried).add(">");
    chosen ? line.add(*chosen) : line.add("-");
  }
  return chosen;
}

const LatencyCurve& SearchPolicies::healthy(Instant now) {
  if (records()) recorder_->line("healthy").add(now);
  return latencies.healthy(now);
}

void SearchPolicies::on_sent(LeafId leaf, AttemptKind kind, Instant now) {
  if (records()) recorder_->line("sent").add(leaf).add(to_string(kind)).add(now);
  replica_choice.on_sent(leaf);
}

void SearchPolicies::on_ended(LeafId leaf) {
  if (records()) recorder_->line("ended").add(leaf);
  replica_choice.on_ended(leaf);
}

void SearchPolicies::on_answered(LeafId leaf, AttemptKind kind, const AttemptTime& time, const AttemptReport& told,
                                 Instant now) {
  if (records()) {
    recorder_->line("answered").add(leaf).add(to_string(kind)).add(time.since_sent).add(time.since_turn).add(told).add(now);
  }
  const AttemptReport report = believable(told, time.since_sent);
  // Partitions of one frame that run side by side are answered soon after each other, and took their time all the same.
  const Duration latency = std::max(time.since_turn, std::min(time.since_sent, report.service_time));
  replica_choice.on_ended(leaf);
  replica_choice.on_answered(leaf, time.since_sent, report, now);
  latencies.on_answered(leaf, latency, now);
  // Not behind the same frame's earlier partitions, and not on the way: that is no load.
  load.on_waited(leaf, std::clamp(latency - report.service_time, Duration::zero(), std::max(Duration::zero(), report.queue_time)), now);
  load.on_answered(leaf, report, now);
  round_trip.record(std::max(Duration::zero(), time.since_sent - report.queue_time - report.service_time), now);
}

void SearchPolicies::on_given_up(LeafId leaf, AttemptKind kind, Duration since_turn, Instant now) {
  if (records()) recorder_->line("given_up").add(leaf).add(to_string(kind)).add(since_turn).add(now);
  replica_choice.on_ended(leaf);
  replica_choice.on_unanswered(leaf, since_turn, now);
  latencies.on_given_up(leaf, since_turn, now);
}

void SearchPolicies::on_failed(LeafId leaf, AttemptKind kind, AttemptFailure failure, Duration since_turn, Instant now) {
  if (records()) recorder_->line("failed").add(leaf).add(to_string(kind)).add(to_string(failure)).add(since_turn).add(now);
  const PartOfEvent part(*this);
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
    tie_delay_ = policy::tie_delay(round_trip.quantile(tie_quantile, now).value_or(Duration::zero()));
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

void SearchPolicies::set_hedge_budget(double fill, double depth, Instant now) {
  if (records()) recorder_->line("budget").add(fill).add(depth).add(now);
  hedging.set_budget(fill, depth);
}

}  // namespace hedgerow::policy
