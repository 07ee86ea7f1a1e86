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
  record_new();
  attempts_.reserve(settings_.tied ? 2 * asked_.size() : asked_.size() + asked_.size() / 8 + 4);
}

Fanout::~Fanout() {
  if (policies_.recorder()) policies_.recorder()->line("gone").add(number_);
  // No instant is at hand, and nothing is learnt of what nobody waited for.
  for (const Attempt& attempt : attempts_) {
    if (attempt.outstanding || attempt.planned) policies_.replica_choice.on_ended(attempt.leaf);
  }
}

// --- events, each recorded as a whole

void Fanout::record_new() {
  SearchRecorder* const recorder = policies_.recorder();
  if (!recorder) return;
  number_ = recorder->next_query();
  auto line = recorder->line("new");
  line.add(number_).add(settings_.search_end);
  settings_.early_fetch ? line.add(*settings_.early_fetch) : line.add("-");
  line.add(static_cast<std::uint64_t>(settings_.hedge.mode)).add(settings_.hedge.quantile).add(settings_.hedge.delay);
  line.add(std::uint64_t{settings_.tied}).add(settings_.good_enough.min_completeness).add(settings_.good_enough.patience);
  for (const Partition& partition : asked_) line.add_partition(partition.partition, partition.documents, partition.replicas);
}

void Fanout::adopt(std::size_t index, LeafId leaf) {
  if (policies_.recorder()) policies_.recorder()->line("adopt").add(number_).add(std::uint64_t{index}).add(leaf);
  partitions_[index].answered_by = leaf;
  resolve(index, PartitionState::answered);
}

Actions Fanout::start(Instant now) {
  const SearchPolicies::PartOfEvent part(policies_);
  Actions actions;
  begin(now, actions);
  if (policies_.recorder()) policies_.recorder()->line("start").add(number_).add(now).add(">").add(actions);
  return actions;
}

Fanout::AnswerVerdict Fanout::on_answer(AttemptId id, const AttemptReport& report, Instant now) {
  const SearchPolicies::PartOfEvent part(policies_);
  AnswerVerdict verdict;
  verdict.merge = take_answer(id, report, now, verdict.actions);
  if (policies_.recorder()) {
    auto line = policies_.recorder()->line("answer");
    line.add(number_).add(id).add(report).add(now).add(verdict.merge ? "> merge" : "> drop").add(verdict.actions);
  }
  return verdict;
}

Actions Fanout::on_failure(AttemptId id, AttemptFailure failure, Instant now) {
  const SearchPolicies::PartOfEvent part(policies_);
  Actions actions;
  take_failure(id, failure, now, actions);
  if (policies_.recorder()) {
    policies_.recorder()->line("fail").add(number_).add(id).add(to_string(failure)).add(now).add(">").add(actions);
  }
  return actions;
}

Actions Fanout::on_started(AttemptId id, Instant now) {
  const SearchPolicies::PartOfEvent part(policies_);
  Actions actions;
  drop_twin_of(id, now, actions);
  if (policies_.recorder()) policies_.recorder()->line("started").add(number_).add(id).add(now).add(">").add(actions);
  return actions;
}

Actions Fanout::on_wake(Instant now) {
  const SearchPolicies::PartOfEvent part(policies_);
  Actions actions;
  wake(now, actions);
  if (policies_.recorder()) policies_.recorder()->line("wake").add(number_).add(now).add(">").add(actions);
  return actions;
}

Actions Fanout::abandon(Instant now) {
  const SearchPolicies::PartOfEvent part(policies_);
  Actions actions;
  if (!finish_) finish(FinishReason::exhausted, now, actions);
  if (policies_.recorder()) policies_.recorder()->line("abandon").add(number_).add(now).add(">").add(actions);
  return actions;
}

// --- what they do

void Fanout::begin(Instant now, Actions& actions) {
  finish_if_resolved(now, actions);  // everything was adopted
  if (finish_) return;
  if (now >= settings_.search_end) {
    finish_with_rest_late(FinishReason::deadline, now, actions);
    return;
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
}

bool Fanout::take_answer(AttemptId id, const AttemptReport& told, Instant now, Actions& actions) {
  Attempt& answered = attempts_[id.value];
  const AttemptReport report = believable(told, now - answered.sent);
  PartitionProgress& partition = partitions_[answered.partition_index];
  const Duration since_turn = now - turn_of(answered);
  // With nothing left in its queue, what else this query asked of the leaf runs already, side by side: its turn does not
  // begin with this answer. And when it does, then with the end of the work, however late its answer came.
  if (report.queued > 0) {
    leaves_.on_progress(answered.place, std::min(now, answered.sent + report.queue_time + report.service_time));
  }
  if (end(answered)) {
    policies_.on_answered(answered.leaf, answered.kind, {now - answered.sent, since_turn}, report, now);
  }
  if (finish_ || partition.state != PartitionState::waiting) return false;

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
  cancel_losers(partition, now, actions);
  finish_if_resolved(now, actions);
  finish_if_good_enough(now, actions);
  return true;
}

void Fanout::take_failure(AttemptId id, AttemptFailure failure, Instant now, Actions& actions) {
  Attempt& ended = attempts_[id.value];
  const std::size_t index = ended.partition_index;
  PartitionProgress& partition = partitions_[index];
  const Duration since_turn = now - turn_of(ended);
  if (!end(ended)) return;  // it is over; only an answer could still change something
  policies_.on_failed(ended.leaf, ended.kind, failure, since_turn, now);
  if (failure == AttemptFailure::failed) leaves_.on_progress(ended.place, now);
  if (failure == AttemptFailure::unreachable) leaves_.on_lost(ended.place);
  if (failure == AttemptFailure::superseded) give_back_leaf(partition, ended.leaf);
  if (finish_ || partition.state != PartitionState::waiting) return;

  if (ended.twin != none && twin_goes_on(ended, failure)) return;
  if (!is_worth_repeating(ended.kind, failure, partition.outstanding > 0)) return;
  if (retry(index, failure, now, actions) || partition.outstanding > 0) return;
  resolve(index, failure == AttemptFailure::refused   ? PartitionState::refused
                 : failure == AttemptFailure::expired ? PartitionState::late
                                                      : PartitionState::failed);
  finish_if_resolved(now, actions);
  finish_if_good_enough(now, actions);
}

void Fanout::drop_twin_of(AttemptId id, Instant now, Actions& actions) {
  const Attempt& started = attempts_[id.value];
  if (finish_ || !started.outstanding || started.twin == none) return;
  if (attempts_[started.twin].kind != AttemptKind::tied) return;
  partitions_[started.partition_index].reference = id.value;
  give_up(started.twin, now, actions);
}

void Fanout::wake(Instant now, Actions& actions) {
  if (finish_) return;
  if (now >= settings_.search_end) {
    finish_with_rest_late(FinishReason::deadline, now, actions);
    return;
  }
  if (settings_.early_fetch && now >= *settings_.early_fetch) {
    settings_.early_fetch.reset();
    actions.push_back(FetchEarly{});
  }
  if (judge_again_ && now >= *judge_again_) finish_if_good_enough(now, actions);
  if (finish_) return;
  if (twins_due_ && now >= *twins_due_) send_planned_twins(now, actions);
  send_due_hedges(now, actions);
  wake_at_ = Instant::max();
  wish(actions);
}

// --- finishing

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
