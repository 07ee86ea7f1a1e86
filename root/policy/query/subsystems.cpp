#include "root/policy/query/subsystems.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "root/policy/query/retry.hpp"

namespace hedgerow::policy {

namespace {

constexpr std::array every_kind{SubsystemKind::spelling, SubsystemKind::snippets, SubsystemKind::facets};

}  // namespace

Subsystems::Subsystems(Instant deadline, std::optional<Duration> wanted_grace, ReplicaChoice& replica_choice,
                       SubsystemModels& models)
    : deadline_(deadline), wanted_grace_(wanted_grace), replica_choice_(replica_choice), models_(models) {}

Subsystems::~Subsystems() {
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) end_attempt(AttemptId{i});
}

Actions Subsystems::add(SubsystemKind kind, std::vector<Part> parts, Instant now) {
  Actions actions;
  One& one = of(kind);
  one.used = true;
  std::vector<std::size_t> added;
  for (auto& part : parts) {
    added.push_back(one.parts.size());
    one.parts.push_back({std::move(part), false, false, {}});
  }
  if (added.empty() || one.status || finished_) return actions;
  if (!one.verdict) {
    one.verdict = now < deadline_ && !shed_ ? model(kind).judge_start(deadline_ - now, now) : SubsystemModel::Verdict::skip;
    if (*one.verdict == SubsystemModel::Verdict::skip) {
      end(kind, SubsystemStatus::skipped, now, actions);
      return actions;
    }
    one.let_through = *one.verdict == SubsystemModel::Verdict::let_through;
    one.started = now;
  }
  if (now < deadline_) send(kind, added, true, now, actions);
  return actions;
}

void Subsystems::drop(SubsystemKind kind, std::size_t place) { of(kind).parts[place].dropped = true; }

Actions Subsystems::close(SubsystemKind kind, Instant now) {
  Actions actions;
  of(kind).used = true;
  of(kind).closed = true;
  end_if_done(kind, now, actions);
  return actions;
}

Subsystems::AnswerVerdict Subsystems::on_answer(AttemptId id, std::size_t place, Instant now) {
  AnswerVerdict verdict;
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding || std::erase(attempt.open, place) == 0) return verdict;
  deliver(attempt.kind, place, verdict);
  if (attempt.open.empty()) end_answered(id, now, verdict);
  return verdict;
}

Subsystems::AnswerVerdict Subsystems::on_answer(AttemptId id, Instant now) {
  AnswerVerdict verdict;
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding) return verdict;
  for (const std::size_t place : attempt.open) deliver(attempt.kind, place, verdict);
  end_answered(id, now, verdict);
  return verdict;
}

void Subsystems::deliver(SubsystemKind kind, std::size_t place, AnswerVerdict& verdict) {
  PartState& part = of(kind).parts[place];
  if (!part.delivered && !part.dropped) verdict.take.push_back(place);
  part.delivered = true;
}

void Subsystems::end_answered(AttemptId id, Instant now, AnswerVerdict& verdict) {
  const Attempt& attempt = attempts_[id.value];
  model(attempt.kind).on_answered(now - attempt.sent, std::exchange(of(attempt.kind).let_through, false), now);
  end_attempt(id);
  end_if_done(attempt.kind, now, verdict.actions);
}

Actions Subsystems::on_failure(AttemptId id, std::size_t place, AttemptFailure failure, Instant now) {
  Actions actions;
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding || std::erase(attempt.open, place) == 0) return actions;
  const SubsystemKind kind = attempt.kind;
  One& one = of(kind);
  const PartState& part = one.parts[place];
  if (attempt.open.empty()) end_attempt(id);
  if (!part.delivered && !part.dropped) {
    const bool has_replica = replica_choice_.choose(part.part.replicas, part.tried).has_value();
    const RetryVerdict verdict = judge_retry(failure, has_replica, deadline_, now, model(kind).retries());
    if (verdict == RetryVerdict::retry) send(kind, {place}, false, now, actions);
    one.expired = one.expired || failure == AttemptFailure::expired;
  }
  end_if_done(kind, now, actions);
  return actions;
}

Actions Subsystems::on_failure(AttemptId id, AttemptFailure failure, Instant now) {
  Actions actions;
  const Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding) return actions;
  const SubsystemKind kind = attempt.kind;
  One& one = of(kind);
  const std::vector<std::size_t> places = attempt.open;
  end_attempt(id);
  // One token for the call, and the parts travel together again.
  std::vector<std::size_t> again;
  bool any_replica = false;
  for (const std::size_t place : places) {
    const PartState& part = one.parts[place];
    if (part.delivered || part.dropped) continue;
    again.push_back(place);
    any_replica = any_replica || replica_choice_.choose(part.part.replicas, part.tried).has_value();
  }
  if (!again.empty()) {
    const RetryVerdict verdict = judge_retry(failure, any_replica, deadline_, now, model(kind).retries());
    if (verdict == RetryVerdict::retry) send(kind, again, false, now, actions);
    one.expired = one.expired || failure == AttemptFailure::expired;
  }
  end_if_done(kind, now, actions);
  return actions;
}

Actions Subsystems::settle(Instant now) {
  Actions actions;
  if (finished_) return actions;
  settled_ = true;
  const Instant end_of_grace = std::min(deadline_, now + wanted_grace_.value_or(default_grace));
  for (const SubsystemKind kind : every_kind) {
    One& one = of(kind);
    if (one.status) continue;
    if (!one.used) {
      one.status = SubsystemStatus::off;
    } else if (end_of_grace > now && worth_waiting_for(kind, now)) {
      one.waited_for = true;
      wait_until_ = end_of_grace;
    } else {
      end(kind, SubsystemStatus::late, now, actions);
    }
  }
  if (wait_until_) actions.push_back(WakeAt{*wait_until_});
  finish_if_ended(actions);
  return actions;
}

bool Subsystems::worth_waiting_for(SubsystemKind kind, Instant now) {
  if (wanted_grace_) return true;
  const bool about_to_come = std::all_of(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
    return attempt.kind != kind || !attempt.outstanding || model(kind).likely_within(default_grace, now - attempt.sent, now);
  });
  const bool affordable = model(kind).may_wait(now);
  return about_to_come && affordable;
}

Actions Subsystems::on_wake(Instant now) {
  Actions actions;
  if (finished_ || !wait_until_) return actions;
  if (now < *wait_until_) {
    actions.push_back(WakeAt{*wait_until_});
    return actions;
  }
  for (const SubsystemKind kind : every_kind) {
    if (!of(kind).status) end(kind, SubsystemStatus::late, now, actions);
  }
  finish_if_ended(actions);
  return actions;
}

Actions Subsystems::abandon(Instant now) {
  Actions actions;
  if (finished_) return actions;
  settled_ = true;
  for (const SubsystemKind kind : every_kind) {
    One& one = of(kind);
    one.waited_for = false;
    if (!one.status) end(kind, one.used ? SubsystemStatus::late : SubsystemStatus::off, now, actions);
  }
  finish_if_ended(actions);
  return actions;
}

Duration Subsystems::duration(SubsystemKind kind) const {
  const One& one = of(kind);
  return one.started && one.ended ? *one.ended - *one.started : Duration::zero();
}

void Subsystems::send(SubsystemKind kind, const std::vector<std::size_t>& places, bool prefer, Instant now,
                      Actions& actions) {
  One& one = of(kind);
  std::map<LeafId, std::vector<std::size_t>> by_leaf;
  for (const std::size_t place : places) {
    const PartState& part = one.parts[place];
    const bool preferred = prefer && part.part.preferred && replica_choice_.is_up(*part.part.preferred);
    const auto leaf = preferred ? part.part.preferred : replica_choice_.choose(part.part.replicas, part.tried);
    if (leaf) by_leaf[*leaf].push_back(place);
  }
  for (auto& [leaf, wanted] : by_leaf) {
    const AttemptId id{static_cast<std::uint32_t>(attempts_.size())};
    for (const std::size_t place : wanted) one.parts[place].tried.push_back(leaf);
    ++one.outstanding;
    replica_choice_.on_sent(leaf);
    for (std::size_t i = 0; prefer && i < wanted.size(); ++i) model(kind).retries().on_primary();
    attempts_.push_back({kind, leaf, now, wanted, true});
    actions.push_back(SendParts{id, kind, leaf, std::move(wanted)});
  }
}

void Subsystems::end_attempt(AttemptId id) {
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding) return;
  attempt.outstanding = false;
  attempt.open.clear();
  --of(attempt.kind).outstanding;
  replica_choice_.on_ended(attempt.leaf);
}

void Subsystems::end(SubsystemKind kind, SubsystemStatus status, Instant now, Actions& actions) {
  One& one = of(kind);
  one.status = status;
  one.ended = now;
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    if (attempts_[i].kind != kind || !attempts_[i].outstanding) continue;
    if (status == SubsystemStatus::late) model(kind).on_given_up(now - attempts_[i].sent, now);
    end_attempt(AttemptId{i});
    actions.push_back(CancelAttempt{AttemptId{i}});
  }
  if (one.waited_for) model(kind).on_waited(status != SubsystemStatus::ok);
}

// Ends a kind whose parts are all known, when all wanted ones are there, or nothing more can come.
void Subsystems::end_if_done(SubsystemKind kind, Instant now, Actions& actions) {
  One& one = of(kind);
  if (one.status || !one.closed) return;
  const bool all_here = std::all_of(one.parts.begin(), one.parts.end(),
                                    [](const PartState& part) { return part.delivered || part.dropped; });
  if (!all_here && one.outstanding > 0) return;
  const SubsystemStatus otherwise = one.expired || now >= deadline_ ? SubsystemStatus::late : SubsystemStatus::failed;
  end(kind, all_here ? SubsystemStatus::ok : otherwise, now, actions);
  if (settled_) finish_if_ended(actions);
}

void Subsystems::finish_if_ended(Actions& actions) {
  if (finished_ || std::any_of(all_.begin(), all_.end(), [](const One& one) { return !one.status; })) return;
  finished_ = true;
  actions.push_back(Finish{FinishReason::complete});
}

}  // namespace hedgerow::policy
