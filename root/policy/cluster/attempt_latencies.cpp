#include "root/policy/cluster/attempt_latencies.hpp"

namespace hedgerow::policy {

AttemptLatencies::AttemptLatencies() = default;

void AttemptLatencies::on_answered(LeafId, Duration latency, Instant now) { cluster_.record(latency, now); }

void AttemptLatencies::on_given_up(LeafId, Duration latency, Instant now) { cluster_.record_at_least(latency, now); }

const LatencyCurve& AttemptLatencies::all(Instant now) { return all_ = cluster_.curve(now); }

const LatencyCurve& AttemptLatencies::healthy(Instant now) { return healthy_ = cluster_.curve(now); }

std::optional<Duration> AttemptLatencies::median_of(LeafId, Instant) { return std::nullopt; }

bool AttemptLatencies::is_sick(LeafId, Instant) { return false; }

std::uint64_t AttemptLatencies::samples(Instant now) { return cluster_.samples(now); }

}  // namespace hedgerow::policy
