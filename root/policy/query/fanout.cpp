#include "root/policy/query/fanout.hpp"

#include <algorithm>
#include <cassert>

#include "root/policy/query/retry.hpp"

namespace hedgerow::policy {

Fanout::Fanout(std::vector<Partition> partitions, const Settings& settings, SearchPolicies& policies)
    : asked_(std::move(partitions)),
      settings_(settings),
      policies_(policies),
      partitions_(asked_.size()),
      waiting_(asked_.size()) {}

Fanout::~Fanout() {
  // No instant is at hand, and nothing is learnt of what nobody waited for.
  for (const Attempt& attempt : attempts_) {
    if (attempt.outstanding) policies_.replica_choice.on_ended(attempt.leaf);
  }
}

void Fanout::adopt(std::size_t index, LeafId leaf) {
  partitions_[index].answered_by = leaf;
  resolve(index, PartitionState::answered);
}

Actions Fanout::start(Instant now) {
  Actions actions;
  if (now >= settings_.search_end) {
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      if (partitions_[i].state == PartitionState::waiting) resolve(i, PartitionState::late);
    }
    finish(FinishReason::deadline, actions);
    return actions;
  }
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].state != PartitionState::waiting) continue;
    if (!send(i, AttemptKind::primary, now, actions)) resolve(i, PartitionState::failed);
  }
  actions.push_back(WakeAt{settings_.early_fetch.value_or(settings_.search_end)});
  finish_if_resolved(actions);
  return actions;
}

Fanout::AnswerVerdict Fanout::on_answer(AttemptId attempt, const AttemptReport& report, Instant now) {
  AnswerVerdict verdict;
  const std::size_t index = attempts_[attempt.value].partition_index;
  if (Attempt& answered = attempts_[attempt.value]; end(attempt)) {
    policies_.on_answered(answered.leaf, answered.kind, now - answered.sent, report, now);
  }
  if (finish_ || partitions_[index].state != PartitionState::waiting) return verdict;

  verdict.merge = true;
  partitions_[index].answered_by = attempts_[attempt.value].leaf;
  resolve(index, PartitionState::answered);
  cancel_outstanding(index, now, verdict.actions);
  finish_if_resolved(verdict.actions);
  return verdict;
}

Actions Fanout::on_failure(AttemptId attempt, AttemptFailure failure, Instant now) {
  Actions actions;
  if (!attempts_[attempt.value].outstanding) return actions;  // it is over; only an answer could still change something
  const std::size_t index = attempts_[attempt.value].partition_index;
  end(attempt);
  policies_.on_failed(attempts_[attempt.value].leaf, attempts_[attempt.value].kind, failure, now);
  PartitionProgress& partition = partitions_[index];
  if (finish_ || partition.state != PartitionState::waiting) return actions;

  const bool has_replica = policies_.replica_choice.choose(asked_[index].replicas, partition.tried).has_value();
  const RetryVerdict verdict = judge_retry(failure, has_replica, settings_.search_end, now, policies_.retry_budget);
  if (verdict == RetryVerdict::retry) {
    send(index, AttemptKind::retry, now, actions);
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
  if (now < settings_.search_end) {
    if (settings_.early_fetch && now >= *settings_.early_fetch) {
      settings_.early_fetch.reset();
      actions.push_back(FetchEarly{});
    }
    actions.push_back(WakeAt{settings_.early_fetch.value_or(settings_.search_end)});
    return actions;
  }
  cancel_outstanding(std::nullopt, now, actions);
  for (std::size_t i = 0; i < partitions_.size(); ++i) {
    if (partitions_[i].state == PartitionState::waiting) resolve(i, PartitionState::late);
  }
  finish(FinishReason::deadline, actions);
  return actions;
}

Actions Fanout::abandon(Instant now) {
  Actions actions;
  if (finish_) return actions;
  cancel_outstanding(std::nullopt, now, actions);
  finish(FinishReason::exhausted, actions);
  return actions;
}

bool Fanout::send(std::size_t index, AttemptKind kind, Instant now, Actions& actions) {
  PartitionProgress& partition = partitions_[index];
  const auto leaf = policies_.replica_choice.choose(asked_[index].replicas, partition.tried);
  if (!leaf) return false;
  const AttemptId id{static_cast<std::uint32_t>(attempts_.size())};
  attempts_.push_back({index, *leaf, kind, true, now});
  partition.tried.push_back(*leaf);
  ++partition.outstanding;
  policies_.on_sent(*leaf, kind, now);
  actions.push_back(SendAttempt{id, asked_[index].partition, *leaf, kind, std::nullopt});
  return true;
}

bool Fanout::end(AttemptId id) {
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding) return false;
  attempt.outstanding = false;
  --partitions_[attempt.partition_index].outstanding;
  return true;
}

void Fanout::resolve(std::size_t index, PartitionState state) {
  assert(partitions_[index].state == PartitionState::waiting);
  partitions_[index].state = state;
  --waiting_;
}

void Fanout::cancel_outstanding(std::optional<std::size_t> index, Instant now, Actions& actions) {
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    if (!attempts_[i].outstanding || (index && attempts_[i].partition_index != *index)) continue;
    end(AttemptId{i});
    policies_.on_given_up(attempts_[i].leaf, attempts_[i].kind, now - attempts_[i].sent, now);
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
