#include "root/policy/cluster/hedging.hpp"

namespace hedgerow::policy {

Hedging::Hedging(const HedgeSettings& settings, AttemptLatencies& latencies, const ClusterLoad& load)
    : settings_(settings), latencies_(latencies), load_(load), budget_(settings.budget_fill, settings.budget_depth) {}

HedgePlan Hedging::plan(const HedgeChoice& wanted, std::size_t, std::size_t most_replicas, Instant now) {
  HedgePlan plan;
  if (most_replicas < 2) return plan;
  if (wanted.mode == HedgeChoice::Mode::fixed) plan.delays.push_back(wanted.delay);
  if (wanted.mode == HedgeChoice::Mode::quantile) {
    const auto delay = latencies_.all(now).quantile(wanted.quantile);
    if (delay && *delay != LatencyModel::longer_than_known) plan.delays.push_back(std::max(*delay, settings_.shortest_delay));
  }
  return plan;
}

void Hedging::on_primary(LeafId, Instant) { budget_.on_primary(); }
void Hedging::on_overdue(LeafId, Instant) {}
void Hedging::on_in_time(LeafId, Instant) {}
bool Hedging::take(Instant) { return budget_.take(); }
void Hedging::set_budget(double fill, double depth) { budget_.set(fill, depth); }

}  // namespace hedgerow::policy
