#include "root/policy/query/fanout.hpp"

#include <algorithm>
#include <cassert>

#include "root/policy/query/retry.hpp"
#include "root/policy/query/tied.hpp"

namespace hedgerow::policy {

Fanout::Fanout(std::vector<Partition> partitions, const Settings& settings, SearchPolicies& policies)
    : asked_(std::move(partitions)),
      settings_(settings),
      policies_(policies),
      partitions_(asked_.size()),
      leaves_(asked_.size()),
      waiting_(asked_.size()) {
  std::uint32_t replicas = 0;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    partitions_[i].tried_from = replicas;
    replicas += static_cast<std::uint32_t>(asked_[i].replicas.size());
    documents_ += asked_[i].documents;
  }
  tried_.resize(replicas);
  attempts_.reserve(settings_.tied ? 2 * asked_.size() : asked_.size() + asked_.size() / 8 + 4);
}

Fanout::~Fanout() {
  // No instant is at hand, and nothing is learnt of what nobody waited for.
  for (const Attempt& attempt : attempts_) {
    if (attempt.outstanding || attempt.planned) policies_.replica_choice.on_ended(attempt.leaf);
  }
}

void Fanout::adopt(std::size_t index, LeafId leaf) {
  partitions_[index].answered_by = leaf;
  resolve(index, PartitionState::answered);
}

Actions Fanout::start(Instant now) {
  Actions actions;
  if (now >= settings_.search_end) {
    finish_with_rest_late(FinishReason::deadline, now, actions);
    return actions;
  }
  std::size_t most_replicas = 0;
  for (const Partition& partition : asked_) most_replicas = std::max(most_replicas, partition.replicas.size());
  hedges_ = HedgeSchedule(policies_.hedging.plan(settings_.hedge, asked_.size(), most_replicas, now), asked_.size(),
                          policies_.next_query_seed());
  actions.reserve(asked_.size() + 2);
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].state == PartitionState::waiting && !ask(i, now, actions)) resolve(i, PartitionState::failed);
  }
  send_probes(now, actions);
  if (!planned_twins_.empty()) twins_due_ = now + policies_.tie_delay(now);
  wish(actions);
  finish_if_resolved(now, actions);
  return actions;
}

Fanout::AnswerVerdict Fanout::on_answer(AttemptId id, const AttemptReport& report, Instant now) {
  AnswerVerdict verdict;
  Attempt& answered = attempts_[id.value];
  PartitionProgress& partition = partitions_[answered.partition_index];
  const Duration since_turn = now - turn_of(answered);
  leaves_.on_progress(answered.place, now);
  if (end(answered)) {
    policies_.on_answered(answered.leaf, answered.kind, {now - answered.sent, since_turn}, report, now);
  }
  if (finish_ || partition.state != PartitionState::waiting) return verdict;

  verdict.merge = true;
  partition.answered_by = answered.leaf;
  const auto overdue_after = hedges_.overdue_after();
  if (!partition.pace_told && overdue_after && answered.kind != AttemptKind::hedge && answered.kind != AttemptKind::probe) {
    partition.pace_told = true;
    if (since_turn < *overdue_after) {
      policies_.hedging.on_in_time(answered.leaf, now);
    } else {
      policies_.hedging.on_overdue(answered.leaf, now);
    }
  }
  resolve(answered.partition_index, PartitionState::answered);
  cancel_losers(partition, now, verdict.actions);
  finish_if_resolved(now, verdict.actions);
  finish_if_good_enough(now, verdict.actions);
  return verdict;
}

Actions Fanout::on_failure(AttemptId id, AttemptFailure failure, Instant now) {
  Actions actions;
  Attempt& ended = attempts_[id.value];
  const std::size_t index = ended.partition_index;
  PartitionProgress& partition = partitions_[index];
  const Duration since_turn = now - turn_of(ended);
  if (!end(ended)) return actions;  // it is over; only an answer could still change something
  policies_.on_failed(ended.leaf, ended.kind, failure, since_turn, now);
  if (failure == AttemptFailure::failed) leaves_.on_progress(ended.place, now);
  if (failure == AttemptFailure::unreachable) leaves_.on_lost(ended.place);
  if (failure == AttemptFailure::superseded) give_back_leaf(partition, ended.leaf);
  if (finish_ || partition.state != PartitionState::waiting) return actions;

  if (ended.twin != none && twin_goes_on(ended, failure)) return actions;
  if (!is_worth_repeating(ended.kind, failure, partition.outstanding > 0)) return actions;
  if (retry(index, failure, now, actions) || partition.outstanding > 0) return actions;
  resolve(index, failure == AttemptFailure::refused   ? PartitionState::refused
                 : failure == AttemptFailure::expired ? PartitionState::late
                                                      : PartitionState::failed);
  finish_if_resolved(now, actions);
  finish_if_good_enough(now, actions);
  return actions;
}

Actions Fanout::on_started(AttemptId id, Instant now) {
  Actions actions;
  const Attempt& started = attempts_[id.value];
  if (finish_ || !started.outstanding || started.twin == none) return actions;
  if (attempts_[started.twin].kind != AttemptKind::tied) return actions;
  partitions_[started.partition_index].reference = id.value;
  give_up(started.twin, now, actions);
  return actions;
}

Actions Fanout::on_wake(Instant now) {
  Actions actions;
  if (finish_) return actions;
  if (now >= settings_.search_end) {
    finish_with_rest_late(FinishReason::deadline, now, actions);
    return actions;
  }
  if (settings_.early_fetch && now >= *settings_.early_fetch) {
    settings_.early_fetch.reset();
    actions.push_back(FetchEarly{});
  }
  if (twins_due_ && now >= *twins_due_) send_planned_twins(now, actions);
  send_due_hedges(now, actions);
  if (judge_again_ && now >= *judge_again_) finish_if_good_enough(now, actions);
  if (finish_) return actions;
  wake_at_ = Instant::max();
  wish(actions);
  return actions;
}

Actions Fanout::abandon(Instant now) {
  Actions actions;
  if (finish_) return actions;
  finish(FinishReason::exhausted, now, actions);
  return actions;
}

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

void Fanout::finish(FinishReason reason, Instant now, Actions& actions) {
  cancel_everything(now, actions);
  finish_ = reason;
  actions.push_back(Finish{reason});
}

void Fanout::finish_with_rest_late(FinishReason reason, Instant now, Actions& actions) {
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].state == PartitionState::waiting) resolve(i, PartitionState::late);
  }
  finish(reason, now, actions);
}

void Fanout::finish_if_resolved(Instant now, Actions& actions) {
  if (waiting_ > 0 || finish_) return;
  const bool all_answered = std::all_of(partitions_.begin(), partitions_.end(), [](const PartitionProgress& partition) {
    return partition.state == PartitionState::answered;
  });
  finish(all_answered ? FinishReason::complete : FinishReason::exhausted, now, actions);
}

void Fanout::finish_if_good_enough(Instant now, Actions& actions) {
  judge_again_.reset();
  if (finish_ || settings_.good_enough.min_completeness >= 1 || documents_ == 0) return;
  const auto all = static_cast<double>(documents_);
  const double completeness = static_cast<double>(documents_answered_) / all;
  if (completeness < settings_.good_enough.min_completeness) return;

  const LatencyCurve& curve = policies_.latencies.healthy(now);
  awaited_.clear();
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].state != PartitionState::waiting) continue;
    awaited_.push_back(awaited(partitions_[i], static_cast<double>(asked_[i].documents) / all, curve, now));
  }
  const auto until =
      worth_waiting_until(settings_.good_enough, completeness, awaited_, curve, settings_.search_end, now);
  if (until) {
    judge_again_ = *until;
    wish(actions);
    return;
  }
  finish_with_rest_late(FinishReason::good_enough, now, actions);
}

Awaited Fanout::awaited(const PartitionProgress& partition, double share, const LatencyCurve& curve, Instant now) const {
  std::optional<Awaited> best;
  Duration least = Duration::max();
  for (std::uint32_t i = partition.latest; i != none; i = attempts_[i].earlier) {
    const Attempt& attempt = attempts_[i];
    if (!attempt.outstanding) continue;
    const Awaited candidate{share, now - turn_of(attempt), policies_.later_than_healthy(attempt.leaf, curve, now)};
    const Duration rest = usual_rest(candidate, curve);
    if (best && rest >= least) continue;
    best = candidate;
    least = rest;
  }
  return best.value_or(Awaited{0, Duration::zero()});
}

// --- waking

Instant Fanout::next_due() const {
  Instant next = std::min(settings_.search_end, settings_.early_fetch.value_or(Instant::max()));
  for (const auto& due : {hedges_.next(), twins_due_, judge_again_}) {
    if (due) next = std::min(next, *due);
  }
  return next;
}

void Fanout::wish(Actions& actions) {
  const Instant next = next_due();
  if (next >= wake_at_) return;
  wake_at_ = next;
  actions.push_back(WakeAt{next});
}

}  // namespace hedgerow::policy
