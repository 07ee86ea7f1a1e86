// A fan-out's books: attempts are added, sent, retried, hedged, and ended exactly once.
#include <algorithm>
#include <cassert>
#include <utility>

#include "root/policy/query/fanout.hpp"
#include "root/policy/query/retry.hpp"
#include "root/policy/query/tied.hpp"

namespace hedgerow::policy {

// --- sending

bool Fanout::ask(std::size_t index, Instant now, Actions& actions) {
  PartitionProgress& partition = partitions_[index];
  const auto& replicas = asked_[index].replicas;
  const auto leaf = policies_.replica_choice.choose(replicas, {});
  if (!leaf) return false;
  const std::uint32_t first = add(index, *leaf, settings_.tied ? AttemptKind::tied : AttemptKind::primary);
  const auto other = settings_.tied ? policies_.replica_choice.choose(replicas, tried(partition)) : std::nullopt;
  if (other) {
    const std::uint32_t second = add(index, *other, AttemptKind::tied);
    attempts_[first].twin = second;
    attempts_[second].twin = first;
    planned_twins_.push_back(second);
  } else {
    attempts_[first].kind = AttemptKind::primary;
  }
  partition.reference = first;
  policies_.on_partition_asked(*leaf, now);
  send(first, now, actions);
  hedges_.watch(static_cast<std::uint32_t>(index), 0, now);
  return true;
}

// After all were asked: a leaf that has work of this query already is heard of without.
void Fanout::send_probes(Instant now, Actions& actions) {
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].outstanding == 0) continue;
    const auto leaf = policies_.replica_choice.choose_probe(asked_[i].replicas, tried(partitions_[i]), now);
    if (leaf) send(add(i, *leaf, AttemptKind::probe), now, actions);
  }
}

std::uint32_t Fanout::add(std::size_t index, LeafId leaf, AttemptKind kind) {
  const auto number = static_cast<std::uint32_t>(attempts_.size());
  PartitionProgress& partition = partitions_[index];
  Attempt& attempt = attempts_.emplace_back(Attempt{index, leaf, kind, false});
  attempt.planned = true;
  attempt.place = leaves_.place_of(leaf);
  attempt.earlier = partition.latest;
  partition.latest = number;
  tried_[partition.tried_from + partition.tried++] = leaf;
  policies_.replica_choice.on_sent(leaf);  // from now on: what is planned is on its way as far as choices go
  return number;
}

void Fanout::send(std::uint32_t number, Instant now, Actions& actions) {
  Attempt& attempt = attempts_[number];
  attempt.planned = false;
  attempt.outstanding = true;
  attempt.sent = now;
  ++partitions_[attempt.partition_index].outstanding;
  ++outstanding_;
  SendAttempt action{AttemptId{number}, asked_[attempt.partition_index].partition, attempt.leaf, attempt.kind, std::nullopt};
  if (attempt.twin != none) action.twin = Twin{AttemptId{attempt.twin}, attempts_[attempt.twin].leaf};
  actions.emplace_back(std::in_place_type<SendAttempt>, action);
}

void Fanout::send_planned_twins(Instant now, Actions& actions) {
  twins_due_.reset();
  for (const std::uint32_t number : planned_twins_) {
    Attempt& second = attempts_[number];
    if (!second.planned) continue;
    // The first half still has a twin named to its leaf; nobody answers there, and nobody begins.
    if (policies_.replica_choice.is_up(second.leaf)) {
      send(number, now, actions);
    } else {
      forget_planned(second);
    }
  }
  planned_twins_.clear();
}

void Fanout::forget_planned(Attempt& attempt) {
  if (!std::exchange(attempt.planned, false)) return;
  policies_.replica_choice.on_ended(attempt.leaf);
  give_back_leaf(partitions_[attempt.partition_index], attempt.leaf);
}

void Fanout::send_due_hedges(Instant now, Actions& actions) {
  if (hedges_.watched() > 2 * waiting_ + 8) {
    hedges_.forget_if([&](std::uint32_t index) { return partitions_[index].state != PartitionState::waiting; });
  }
  while (const auto due = hedges_.take_due(now)) {
    PartitionProgress& partition = partitions_[due->partition];
    if (partition.state != PartitionState::waiting) continue;
    const Attempt& reference = attempts_[partition.reference];
    const Instant silent_since = turn_of(reference);
    if (!hedges_.is_over(*due, silent_since, now)) {
      hedges_.watch(due->partition, due->step, silent_since);
      continue;
    }
    if (reference.outstanding) {
      policies_.on_silence(reference.leaf, now - silent_since, now);
      tell_overdue(partition, now);
    }
    if (due->step == 0 && !hedges_.draw()) continue;
    if (!may_ask_again(leaves_.lost().size())) continue;
    const auto leaf = policies_.replica_choice.choose(asked_[due->partition].replicas, tried(partition));
    if (!leaf) continue;  // one that comes up later is not worth another look
    if (policies_.hedging.take(now)) send(add(due->partition, *leaf, AttemptKind::hedge), now, actions);
    hedges_.watch(due->partition, due->step + 1, silent_since);
  }
}

// --- failures

bool Fanout::twin_goes_on(Attempt& half, AttemptFailure failure) {
  Attempt& other = attempts_[half.twin];
  const bool other_in_flight = other.outstanding;
  if (other.planned) forget_planned(other);
  if (judge_half(failure, other_in_flight) == HalfVerdict::ask_elsewhere) return false;
  partitions_[half.partition_index].reference = half.twin;
  return true;
}

bool Fanout::retry(std::size_t index, AttemptFailure failure, Instant now, Actions& actions) {
  PartitionProgress& partition = partitions_[index];
  const auto leaf = may_ask_again(leaves_.lost().size())
                        ? policies_.replica_choice.choose(asked_[index].replicas, tried(partition))
                        : std::nullopt;
  if (judge_retry(failure, leaf.has_value(), settings_.search_end, now, policies_.retry_budget) != RetryVerdict::retry) {
    return false;
  }
  const std::uint32_t number = add(index, *leaf, AttemptKind::retry);
  if (!attempts_[partition.reference].outstanding) partition.reference = number;  // it takes the failed one's place
  send(number, now, actions);
  return true;
}

// It may be asked again: what it was asked for never ran there.
void Fanout::give_back_leaf(PartitionProgress& partition, LeafId leaf) {
  LeafId* const first = tried_.data() + partition.tried_from;
  LeafId* const found = std::find(first, first + partition.tried, leaf);
  assert(found != first + partition.tried);
  std::swap(*found, first[--partition.tried]);
}

void Fanout::tell_overdue(PartitionProgress& partition, Instant now) {
  const auto overdue_after = hedges_.overdue_after();
  const Attempt& reference = attempts_[partition.reference];
  if (partition.pace_told || !overdue_after || now - turn_of(reference) < *overdue_after) return;
  partition.pace_told = true;
  policies_.hedging.on_overdue(reference.leaf, now);
}

// --- ending

bool Fanout::end(Attempt& attempt) {
  if (!attempt.outstanding) return false;
  attempt.outstanding = false;
  --partitions_[attempt.partition_index].outstanding;
  --outstanding_;
  return true;
}

void Fanout::resolve(std::size_t index, PartitionState state) {
  assert(partitions_[index].state == PartitionState::waiting);
  partitions_[index].state = state;
  --waiting_;
  if (state == PartitionState::answered) documents_answered_ += asked_[index].documents;
}

void Fanout::give_up(std::uint32_t number, Instant now, Actions& actions) {
  Attempt& attempt = attempts_[number];
  PartitionProgress& partition = partitions_[attempt.partition_index];
  if (attempt.planned) forget_planned(attempt);
  if (!end(attempt)) return;
  if (number == partition.reference) tell_overdue(partition, now);
  policies_.on_given_up(attempt.leaf, attempt.kind, now - turn_of(attempt), now);
  actions.push_back(CancelAttempt{AttemptId{number}});
}

// A probe goes on until the query is over: to be heard is what it was sent for.
void Fanout::cancel_losers(PartitionProgress& partition, Instant now, Actions& actions) {
  for (std::uint32_t i = partition.latest; i != none; i = attempts_[i].earlier) {
    if (attempts_[i].kind != AttemptKind::probe) give_up(i, now, actions);
  }
}

void Fanout::cancel_everything(Instant now, Actions& actions) {
  if (outstanding_ == 0 && planned_twins_.empty()) return;
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) give_up(i, now, actions);
}
}  // namespace hedgerow::policy
