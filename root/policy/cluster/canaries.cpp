#include "root/policy/cluster/canaries.hpp"

#include <algorithm>

namespace hedgerow::policy {

namespace {

CanaryAnswer answer_of(CanaryVerdict verdict) {
  switch (verdict) {
    case CanaryVerdict::safe: return CanaryAnswer::go;
    case CanaryVerdict::guilty: return CanaryAnswer::quarantined;
    case CanaryVerdict::refused: return CanaryAnswer::refused;
    case CanaryVerdict::no_leaf: return CanaryAnswer::no_leaf;
    case CanaryVerdict::late:
    case CanaryVerdict::abandoned: return CanaryAnswer::late;
  }
  return CanaryAnswer::late;
}

}  // namespace

Canaries::Canaries(const CanariesSettings& settings, SearchPolicies& policies, std::uint64_t seed)
    : settings_(settings), policies_(policies), random_(seed), quarantine_(settings.quarantine) {}

std::optional<CanaryAnswer> Canaries::known(const std::string& fingerprint, bool always, Instant now) {
  if (quarantine_.refuse(fingerprint, now)) return CanaryAnswer::quarantined;
  if (!always && quarantine_.is_safe(fingerprint)) return CanaryAnswer::go;
  return std::nullopt;
}

Canaries::Asked Canaries::ask(Question question, Instant now) {
  Asked asked;
  asked.waiter = WaiterId{++last_waiter_};
  waiters_by_end_.emplace(question.end, asked.waiter);
  const auto running = undecided_.find(question.fingerprint);
  waiters_.emplace(asked.waiter, Waiter{std::move(question), std::nullopt});
  if (running != undecided_.end()) {
    asked.follows = true;
    waiters_.at(asked.waiter).trial = running->second;
    trials_.at(running->second)->waiters.push_back(asked.waiter);
    return asked;
  }
  begin(asked.waiter, {}, now, asked.actions);
  return asked;
}

void Canaries::begin(WaiterId leader, std::vector<WaiterId> followers, Instant now, CanaryActions& actions) {
  if (undecided_.size() >= settings_.most_trials) {
    tell(leader, CanaryAnswer::refused, {}, true, std::nullopt, actions);
    for (const WaiterId follower : followers) tell(follower, CanaryAnswer::refused, {}, false, std::nullopt, actions);
    return;
  }
  const TrialId id{++last_trial_};
  const Question& question = waiters_.at(leader).question;
  auto trial = std::make_unique<Trial>(leader, question, quarantine_.suspicions(question.fingerprint, now), settings_.canary,
                                       policies_, leaves_, Random(random_.next()));
  trial->waiters.push_back(leader);
  trial->waiters.insert(trial->waiters.end(), followers.begin(), followers.end());
  for (const WaiterId waiter : trial->waiters) waiters_.at(waiter).trial = id;
  undecided_.emplace(question.fingerprint, id);
  actions.push_back(canary_action::Begin{id, leader});
  Trial& begun = *trials_.emplace(id, std::move(trial)).first->second;
  absorb(id, begun.canary.start(now), now, actions);
}

CanaryActions Canaries::leave(WaiterId id, Instant now) {
  CanaryActions actions;
  const auto found = waiters_.find(id);
  if (found == waiters_.end()) return actions;
  const auto trial_id = found->second.trial;
  waiters_by_end_.erase({found->second.question.end, id});
  waiters_.erase(found);
  if (!trial_id) return actions;
  Trial& trial = *trials_.at(*trial_id);
  std::erase(trial.waiters, id);
  if (trial.waiters.empty()) absorb(*trial_id, trial.canary.abandon(now), now, actions);
  return actions;
}

CanaryActions Canaries::on_answer(TrialId id, AttemptId attempt, const AttemptReport& report, Instant now) {
  CanaryActions actions;
  const auto found = trials_.find(id);
  if (found == trials_.end()) return actions;
  absorb(id, found->second->canary.on_answer(attempt, report, now), now, actions);
  look_for_leaves(now, actions);
  return actions;
}

CanaryActions Canaries::on_failure(TrialId id, AttemptId attempt, AttemptFailure failure, Instant now) {
  CanaryActions actions;
  const auto found = trials_.find(id);
  if (found == trials_.end()) return actions;
  absorb(id, found->second->canary.on_failure(attempt, failure, now), now, actions);
  look_for_leaves(now, actions);
  return actions;
}

CanaryActions Canaries::on_wake(Instant now) {
  CanaryActions actions;
  // What trials have to say first: a verdict that is due now is worth more than "not in time".
  while (!wakes_.empty() && wakes_.begin()->first <= now) {
    const TrialId id = wakes_.begin()->second;
    Trial& trial = *trials_.at(id);
    wake(trial, id, std::nullopt);
    if (trial.over) {
      close(id, actions);
    } else {
      absorb(id, trial.canary.on_wake(now), now, actions);
    }
  }
  while (!waiters_by_end_.empty() && waiters_by_end_.begin()->first <= now) {
    const WaiterId id = waiters_by_end_.begin()->second;
    const auto trial = waiters_.at(id).trial;
    if (trial) std::erase(trials_.at(*trial)->waiters, id);
    tell(id, CanaryAnswer::late, trial.value_or(TrialId{}), false, std::nullopt, actions);
  }
  return actions;
}

std::optional<Instant> Canaries::wake_at() const {
  std::optional<Instant> at;
  if (!wakes_.empty()) at = wakes_.begin()->first;
  if (!waiters_by_end_.empty()) at = at ? std::min(*at, waiters_by_end_.begin()->first) : waiters_by_end_.begin()->first;
  return at;
}

void Canaries::on_leaves_lost(const std::string& fingerprint, std::string_view shown, const std::vector<LeafId>& leaves,
                              Instant began, Instant now) {
  std::vector<LeafId> unexplained;
  for (const LeafId leaf : leaves) {
    const auto loss = leaves_.loss_of(leaf, now);
    if (loss.how != LeafLoss::died || loss.held_up || leaves_.death_is_explained(leaf, began)) continue;
    unexplained.push_back(leaf);
  }
  if (unexplained.size() >= Quarantine::suspicions_for_conviction) {
    quarantine_.on_leaves_lost(fingerprint, shown, std::move(unexplained), began, now);
  }
}

void Canaries::absorb(TrialId id, Actions wanted, Instant now, CanaryActions& actions) {
  Trial& trial = *trials_.at(id);
  for (const Action& action : wanted) {
    if (const auto* send = std::get_if<SendAttempt>(&action)) {
      actions.push_back(canary_action::Send{id, send->attempt, send->partition, send->leaf, trial.canary.attempt(send->attempt).end});
    } else if (const auto* cancel = std::get_if<CancelAttempt>(&action)) {
      actions.push_back(canary_action::Cancel{id, cancel->attempt});
    } else if (const auto* at = std::get_if<WakeAt>(&action)) {
      wake(trial, id, at->at);
    }
  }
  if (!trial.over) {
    if (trial.canary.verdict()) conclude(id, now, actions);
  } else if (*trial.canary.verdict() == CanaryVerdict::guilty && trial.listens_until &&
             trial.canary.suspicions() < Quarantine::suspicions_for_conviction) {
    trial.listens_until.reset();
    quarantine_.lift(trial.fingerprint, trial.canary.suspicions(), now);
    actions.push_back(canary_action::Lifted{id});
  }
  close_if_silent(id, now, actions);
}

void Canaries::conclude(TrialId id, Instant now, CanaryActions& actions) {
  Trial& trial = *trials_.at(id);
  const CanaryVerdict verdict = *trial.canary.verdict();
  trial.over = true;
  ++listening_;
  undecided_.erase(trial.fingerprint);
  wake(trial, id, std::nullopt);
  switch (verdict) {
    case CanaryVerdict::safe: quarantine_.on_safe(trial.fingerprint); break;
    case CanaryVerdict::guilty:
      quarantine_.on_guilty(trial.fingerprint, trial.shown, trial.canary.reason(), trial.canary.suspected_leaves(), now);
      trial.listens_until = now + quarantine_.settings().time;
      break;
    default: quarantine_.on_undecided(trial.fingerprint, trial.canary.lasting_suspicions(), now);
  }
  actions.push_back(canary_action::Decided{id, verdict, trial.canary.suspected_leaves()});

  const WaiterId leader = trial.leader;
  const bool own_late = verdict == CanaryVerdict::late;
  std::vector<WaiterId> again;
  for (const WaiterId waiter : std::exchange(trial.waiters, {})) {
    const bool own = waiter == leader;
    const bool undecided = own_late || verdict == CanaryVerdict::abandoned;
    if (undecided && !(own && own_late) && waiters_.at(waiter).question.end > now) {
      again.push_back(waiter);
      continue;
    }
    tell(waiter, answer_of(verdict), id, own, own ? trial.canary.answered() : std::nullopt, actions);
  }
  if (again.empty()) return;
  const WaiterId next = again.front();
  again.erase(again.begin());
  begin(next, std::move(again), now, actions);
}

void Canaries::tell(WaiterId id, CanaryAnswer answer, TrialId trial, bool own, std::optional<AttemptId> answered,
                    CanaryActions& actions) {
  const auto found = waiters_.find(id);
  waiters_by_end_.erase({found->second.question.end, id});
  waiters_.erase(found);
  actions.push_back(canary_action::Tell{id, answer, trial, own, answered});
}

void Canaries::wake(Trial& trial, TrialId id, std::optional<Instant> at) {
  if (trial.wake_at) wakes_.erase({*trial.wake_at, id});
  trial.wake_at = at;
  if (at) wakes_.emplace(*at, id);
}

// A trial that is over is kept only for what may still be answered.
void Canaries::close_if_silent(TrialId id, Instant now, CanaryActions& actions) {
  const auto found = trials_.find(id);
  if (found == trials_.end() || !found->second->over) return;
  Trial& trial = *found->second;
  const bool listens = trial.canary.listens() && trial.listens_until && *trial.listens_until > now &&
                       listening_ <= settings_.most_listening;
  if (!listens) return close(id, actions);
  if (!trial.wake_at) wake(trial, id, *trial.listens_until);
}

void Canaries::close(TrialId id, CanaryActions& actions) {
  wake(*trials_.at(id), id, std::nullopt);
  trials_.erase(id);
  --listening_;
  actions.push_back(canary_action::End{id});
}

// A leaf may have become free for a trial that waits for one.
void Canaries::look_for_leaves(Instant now, CanaryActions& actions) {
  std::vector<TrialId> waiting;
  for (const auto& [id, trial] : trials_) {
    if (!trial->over && trial->canary.waits_for_leaf()) waiting.push_back(id);
  }
  for (const TrialId id : waiting) {
    const auto found = trials_.find(id);
    if (found != trials_.end() && !found->second->over) absorb(id, found->second->canary.on_wake(now), now, actions);
  }
}

}  // namespace hedgerow::policy
