// How a query of a simulated root ends: its search, then what was waited for beside it; and who is told.
#include "lab/simulation/simulated_root.hpp"

namespace hedgerow::lab::simulation {

namespace {

// Partitions.
std::size_t answered_in(const policy::Fanout& fanout) {
  std::size_t answered = 0;
  for (std::size_t i = 0; i < fanout.partitions().size(); ++i)
    answered += fanout.state_of(i) == policy::PartitionState::answered ? 1 : 0;
  return answered;
}

}  // namespace

void SimulatedRoots::on_client_gone(QuerySlot slot, std::uint32_t generation, Instant now) {
  Query* query = find(slot, generation);
  if (!query || query->answered) return;
  query->abandoned = true;
  perform(slot, query->fanout->abandon(now), now);
}

void SimulatedRoots::answer(QuerySlot slot, policy::FinishReason reason, Instant now) {
  Query& query = queries_[slot];
  invariants_->on_answered(slot, reason, query.abandoned, now);
  if (settings_.sabotage == Sabotage::answer_twice) invariants_->on_answered(slot, reason, query.abandoned, now);
  query.answered = true;
  query.reason = reason;
  if (query.subsystems) {
    perform_parts(slot, query.abandoned ? query.subsystems->abandon(now) : query.subsystems->settle(now), now);
    if (!query.abandoned && !query.subsystems->finished()) return;  // what is open may still come
  }
  conclude(slot, now);
}

// The query is over: hits, and what was waited for beside them.
void SimulatedRoots::conclude(QuerySlot slot, Instant now) {
  Query& query = queries_[slot];
  const policy::FinishReason reason = query.reason;
  query.concluded = true;
  invariants_->on_concluded(slot, now);
  count(query, [&](QueryFigures& figures) {
    figures.first_attempts += query.fanout->partitions().size();
    if (query.abandoned) {
      ++figures.abandoned;
      return;
    }
    ++figures.queries;
    ++figures.finished[static_cast<std::size_t>(reason)];
    figures.latency.record(static_cast<std::uint64_t>((now - query.arrived).count()));
    if (query.subsystems) ++figures.spelling[static_cast<std::size_t>(query.subsystems->status(policy::SubsystemKind::spelling))];
  });
  if (observer_) observer_({query.shape, query.measured, query.arrived, now - query.arrived, query.abandoned, &*query.fanout});
  if (!canaries_.empty()) {
    const std::size_t answered = answered_in(*query.fanout);
    canaries_[query.root]->on_searched(query.fingerprint, answered > 0, answered == partitions_.size(),
                                       query.fanout->lost_leaves(), query.arrived, now);
  }
  if (!rooms_.empty()) {
    leave(query, reason, now);
    events_.push(now, EventKind::place_is_free, query.root);  // and not from within what ends it
  }
  if (settings_.linger > Duration::zero()) {
    events_.push(now + settings_.linger, EventKind::query_is_dropped, slot, query.generation);
  }
}

void SimulatedRoots::on_drop(QuerySlot slot, std::uint32_t generation, Instant now) {
  if (find(slot, generation)) drop(slot, now);
}

void SimulatedRoots::drop(QuerySlot slot, Instant now) {
  Query& query = queries_[slot];
  query.fanout.reset();
  query.subsystems.reset();
  invariants_->on_dropped(slot, now);
  for (const AttemptSlot at : query.records) {
    if (at == none) continue;
    if (settings_.sabotage == Sabotage::keep_record && attempts_[at].kind != AttemptKind::primary) continue;
    attempts_.release(at);
  }
  ++query.generation;
  free_.push_back(slot);
  --open_;
}

// As root/query_service tells its waiting room.
void SimulatedRoots::leave(const Query& query, policy::FinishReason reason, Instant now) {
  invariants_->on_left(query.root, query.service_class);
  const double share = static_cast<double>(answered_in(*query.fanout)) / static_cast<double>(query.fanout->partitions().size());
  if (settings_.sabotage == Sabotage::forget_leaving && random_.chance(0.2)) return;
  rooms_[query.root]->on_ended(
      {.service_class = query.service_class,
       .admitted = query.admitted,
       .given = query.search_end - query.arrived,
       .ran = !query.abandoned,
       .at_deadline = reason == policy::FinishReason::deadline,
       .answered_all = reason == policy::FinishReason::complete || reason == policy::FinishReason::good_enough,
       .answered = share},
      now);
}

}  // namespace hedgerow::lab::simulation
