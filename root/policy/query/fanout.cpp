#include "root/policy/query/fanout.hpp"

#include <algorithm>
#include <cassert>

#include "root/policy/query/retry.hpp"

namespace hedgerow::policy {

Fanout::Fanout(std::vector<Partition> partitions, Instant search_end, ReplicaChoice& replica_choice,
               AttemptBudget& retry_budget, std::optional<Instant> early_fetch)
    : asked_(std::move(partitions)),
      search_end_(search_end),
      early_fetch_(early_fetch),
      replica_choice_(replica_choice),
      retry_budget_(retry_budget),
      partitions_(asked_.size()),
      waiting_(asked_.size()) {}

Fanout::~Fanout() {
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) end(AttemptId{i});
}

Actions Fanout::start(Instant now) {
  Actions actions;
  if (now >= search_end_) {
    for (std::size_t i = 0; i < partitions_.size(); ++i) resolve(i, PartitionState::late);
    finish(FinishReason::deadline, actions);
    return actions;
  }
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (send(i, AttemptKind::primary, actions)) {
      retry_budget_.on_primary();
    } else {
      resolve(i, PartitionState::failed);
    }
  }
  actions.push_back(WakeAt{early_fetch_.value_or(search_end_)});
  finish_if_resolved(actions);
  return actions;
}

Fanout::AnswerVerdict Fanout::on_answer(AttemptId attempt, Instant) {
  AnswerVerdict verdict;
  const std::size_t index = attempts_[attempt.value].partition_index;
  end(attempt);
  if (finish_ || partitions_[index].state != PartitionState::waiting) return verdict;

  verdict.merge = true;
  partitions_[index].answered_by = attempts_[attempt.value].leaf;
  resolve(index, PartitionState::answered);
  cancel_outstanding(index, verdict.actions);
  finish_if_resolved(verdict.actions);
  return verdict;
}

Actions Fanout::on_failure(AttemptId attempt, AttemptFailure failure, Instant now) {
  Actions actions;
  if (!attempts_[attempt.value].outstanding) return actions;  // it is over; only an answer could still change something
  const std::size_t index = attempts_[attempt.value].partition_index;
  end(attempt);
  PartitionProgress& partition = partitions_[index];
  if (finish_ || partition.state != PartitionState::waiting) return actions;

  const bool has_replica = replica_choice_.choose(asked_[index].replicas, partition.tried).has_value();
  const RetryVerdict verdict = judge_retry(failure, has_replica, search_end_, now, retry_budget_);
  if (verdict == RetryVerdict::retry) {
    send(index, AttemptKind::retry, actions);
  } else if (partition.outstanding == 0) {
    resolve(index, failure == AttemptFailure::refused   ? PartitionState::refused
                   : failure == AttemptFailure::expired ? PartitionState::late
                                                        : PartitionState::failed);
    finish_if_resolved(actions);
  }
  return actions;
}

Actions Fanout::on_wake(Instant now) {
  Actions actions;
  if (finish_) return actions;
  if (now < search_end_) {
    if (early_fetch_ && now >= *early_fetch_) {
      early_fetch_.reset();
      actions.push_back(FetchEarly{});
    }
    actions.push_back(WakeAt{early_fetch_.value_or(search_end_)});
    return actions;
  }
  cancel_outstanding(std::nullopt, actions);
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].state == PartitionState::waiting) resolve(i, PartitionState::late);
  }
  finish(FinishReason::deadline, actions);
  return actions;
}

Actions Fanout::abandon(Instant) {
  Actions actions;
  if (finish_) return actions;
  cancel_outstanding(std::nullopt, actions);
  finish(FinishReason::exhausted, actions);
  return actions;
}

bool Fanout::send(std::size_t index, AttemptKind kind, Actions& actions) {
  PartitionProgress& partition = partitions_[index];
  const auto leaf = replica_choice_.choose(asked_[index].replicas, partition.tried);
  if (!leaf) return false;
  const AttemptId id{static_cast<std::uint32_t>(attempts_.size())};
  attempts_.push_back({index, *leaf, kind, true});
  partition.tried.push_back(*leaf);
  ++partition.outstanding;
  replica_choice_.on_sent(*leaf);
  actions.push_back(SendAttempt{id, asked_[index].partition, *leaf, kind});
  return true;
}

void Fanout::end(AttemptId id) {
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding) return;
  attempt.outstanding = false;
  --partitions_[attempt.partition_index].outstanding;
  replica_choice_.on_ended(attempt.leaf);
}

void Fanout::resolve(std::size_t index, PartitionState state) {
  assert(partitions_[index].state == PartitionState::waiting);
  partitions_[index].state = state;
  --waiting_;
}

void Fanout::cancel_outstanding(std::optional<std::size_t> index, Actions& actions) {
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    if (!attempts_[i].outstanding || (index && attempts_[i].partition_index != *index)) continue;
    end(AttemptId{i});
    actions.push_back(CancelAttempt{AttemptId{i}});
  }
}

void Fanout::finish(FinishReason reason, Actions& actions) {
  finish_ = reason;
  actions.push_back(Finish{reason});
}

void Fanout::finish_if_resolved(Actions& actions) {
  if (waiting_ > 0 || finish_) return;
  const bool all_answered = std::all_of(partitions_.begin(), partitions_.end(), [](const PartitionProgress& partition) {
    return partition.state == PartitionState::answered;
  });
  finish(all_answered ? FinishReason::complete : FinishReason::exhausted, actions);
}

}  // namespace hedgerow::policy
