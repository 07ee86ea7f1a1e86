#include "root/policy/query/canary.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow::policy {

namespace {

using State = Canary::Attempt::State;

// While it waits for a leaf, what it waits for may also go down, or come up.
constexpr Duration look_again = std::chrono::milliseconds(20);

}  // namespace

Canary::Canary(std::vector<Partition> partitions, Instant end, std::uint32_t suspicions, const CanarySettings& settings,
               SearchPolicies& policies, CanaryLeaves& leaves, Random random)
    : partitions_(std::move(partitions)),
      end_(end),
      earlier_suspicions_(suspicions),
      settings_(settings),
      policies_(policies),
      leaves_(leaves),
      random_(random) {}

Canary::~Canary() {
  for (Attempt& attempt : attempts_) {
    if (attempt.state != State::outstanding) continue;
    policies_.on_ended(attempt.leaf);
    end(attempt, State::ended);
  }
  release();
}

Actions Canary::start(Instant now) {
  Actions actions;
  started_ = now;
  const auto usual = policies_.healthy(now).quantile(settings_.patience_quantile);
  Duration patience = (end_ - now) / 2;
  if (usual && *usual < patience) {
    const auto wished = Duration{static_cast<Duration::rep>(static_cast<double>(usual->count()) * settings_.patience_factor)};
    patience = std::min(patience, std::max(wished, settings_.shortest_patience));
  }
  patience_ends_ = now + patience;
  ask(now, actions);
  wish(now, actions);
  return actions;
}

Actions Canary::on_answer(AttemptId id, const AttemptReport& report, Instant now) {
  Actions actions;
  Attempt& attempt = attempts_[id.value];
  leaves_.on_answered(now);
  if (attempt.state == State::outstanding) {
    policies_.on_answered(attempt.leaf, AttemptKind::canary, {now - attempt.sent, now - attempt.sent}, report, now);
  } else if (attempt.state == State::hung) {
    --hangs_;
  }
  end(attempt, State::ended);
  if (!verdict_) {
    answered_ = id;
    decide(CanaryVerdict::safe, now, actions);
  }
  wish(now, actions);
  return actions;
}

Actions Canary::on_failure(AttemptId id, AttemptFailure failure, Instant now) {
  Actions actions;
  Attempt& attempt = attempts_[id.value];
  const bool hung = attempt.state == State::hung;
  const CanaryLeaves::Loss loss = leaves_.loss_of(attempt.leaf, now);
  // What the root itself ended was as if it had never gone out.
  if (failure == AttemptFailure::unreachable && loss.how == LeafLoss::let_go) failure = AttemptFailure::refused;
  const bool died = failure == AttemptFailure::unreachable;
  if (died && loss.how == LeafLoss::died) leaves_.on_died(attempt.leaf, now);
  if (attempt.state == State::outstanding) {
    if (failure == AttemptFailure::superseded || (abandoned_ && !died)) {
      policies_.on_given_up(attempt.leaf, AttemptKind::canary, now - attempt.sent, now);
    } else {
      policies_.on_failed(attempt.leaf, AttemptKind::canary, failure, now - attempt.sent, now);
    }
  } else if (hung && !died) {
    --hangs_;  // the leaf has let go of it
  }
  end(attempt, died ? State::dead : State::ended);
  if (verdict_) {
    wish(now, actions);
    return actions;
  }
  switch (failure) {
    case AttemptFailure::unreachable:
      if (hung) --hangs_;  // it was more than a worker that is stuck, and is still one leaf
      // To a root that was held up everybody is silent: that is forgiven, after a while.
      if (loss.how == LeafLoss::silent && !loss.held_up) {
        on_silent(attempt, now, actions);
      } else {
        on_dead(attempt, loss, now);
      }
      break;
    case AttemptFailure::failed:
    case AttemptFailure::bad_query:
      if (abandoned_) {
        undecided(CanaryVerdict::abandoned, now, actions);  // "failed" is what a cancelled attempt says
      } else {
        decide(CanaryVerdict::safe, now, actions);  // whatever became of the query, its leaf lives
      }
      break;
    case AttemptFailure::refused:
      release();
      if (judge_at_) {
        ++refusals_;
      } else if (++refusals_ < settings_.most_refusals && !abandoned_) {
        ask(now, actions);
      } else {
        undecided(abandoned_ ? CanaryVerdict::abandoned : CanaryVerdict::refused, now, actions);
      }
      break;
    case AttemptFailure::expired:
    case AttemptFailure::superseded:
      undecided(CanaryVerdict::late, now, actions);
      break;
  }
  wish(now, actions);
  return actions;
}

Actions Canary::on_wake(Instant now) {
  Actions actions;
  if (wake_at_ && now - *wake_at_ > settings_.held_up) slack_ += now - *wake_at_;
  wake_at_.reset();
  for (std::size_t i = 0; i < attempts_.size() && !verdict_; ++i) {
    Attempt& attempt = attempts_[i];
    if (attempt.state != State::outstanding) continue;
    if (now >= attempt.end && !attempt.overdue) {
      attempt.overdue = true;
      leaves_.on_overdue();
    }
    if (now < attempt.end + settings_.hang_time + slack_) continue;
    const bool counts = hang_counts(attempt, now);
    policies_.on_given_up(attempt.leaf, AttemptKind::canary, now - attempt.sent, now);
    end(attempt, counts ? State::hung : State::ended);
    if (counts) {
      ++hangs_;
      suspect(now, actions);
    } else {
      undecided(CanaryVerdict::late, now, actions);
    }
  }
  if (!verdict_ && judge_at_ && now >= *judge_at_) judge(now, actions);
  if (!verdict_ && waits_ && !judge_at_) ask(now, actions);
  if (!verdict_ && patience_ends_ && now >= *patience_ends_) {
    patience_ends_.reset();
    if (attempts_.size() == 1 && !judge_at_ && !rests_until_ && anything_under_way() && suspicions() == 0 && now < end_) {
      if (const auto choice = choose(false)) send(*choice, now, actions);
    }
  }
  wish(now, actions);
  return actions;
}

Actions Canary::abandon(Instant now) {
  Actions actions;
  if (verdict_ || abandoned_ || suspicions() > 0 || judge_at_) return actions;
  abandoned_ = true;
  waits_ = false;
  patience_ends_.reset();
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    if (attempts_[i].state == State::outstanding) actions.push_back(CancelAttempt{AttemptId{i}});
  }
  undecided(CanaryVerdict::abandoned, now, actions);
  wish(now, actions);
  return actions;
}

std::vector<LeafId> Canary::suspected_leaves() const {
  std::vector<LeafId> out;
  for (const Attempt& attempt : attempts_) {
    if (attempt.state == State::dead || attempt.state == State::hung || attempt.state == State::silent) out.push_back(attempt.leaf);
  }
  return out;
}

bool Canary::listens() const {
  return std::any_of(attempts_.begin(), attempts_.end(), [this](const Attempt& attempt) {
    return attempt.state == State::outstanding ||
           (attempt.state == State::hung && (!verdict_ || *verdict_ == CanaryVerdict::guilty));
  });
}

// Whoever can be asked: each leaf once, for a partition that it holds.
std::vector<Canary::Choice> Canary::candidates(bool all, bool alone) const {
  std::vector<Choice> found;
  const auto offer = [&](const Partition& partition) {
    for (const LeafId leaf : partition.replicas) {
      const auto same = [leaf](const auto& other) { return other.leaf == leaf; };
      if (!policies_.replica_choice.is_up(leaf) || !leaves_.open(leaf) || (alone && leaves_.running(leaf) > 0)) continue;
      if (std::any_of(attempts_.begin(), attempts_.end(), same) || std::any_of(found.begin(), found.end(), same)) continue;
      found.push_back({leaf, partition.partition});
    }
  };
  if (all) {
    for (const Partition& partition : partitions_) offer(partition);
    return found;
  }
  // What a leaf died of may lie in a partition: the other copies of the same one first.
  if (!attempts_.empty()) {
    for (const Partition& partition : partitions_) {
      if (partition.partition == attempts_.front().partition) offer(partition);
    }
    if (!found.empty()) return found;
  }
  Random random = random_;
  for (std::size_t i = 0; i < settings_.partitions_drawn; ++i) offer(partitions_[random.below(partitions_.size())]);
  return found;
}

std::optional<Canary::Choice> Canary::choose(bool alone) {
  if (partitions_.empty()) return std::nullopt;
  random_.next();  // another draw each time
  auto offered = candidates(false, alone);
  if (offered.empty()) offered = candidates(true, alone);
  if (offered.empty()) return std::nullopt;
  std::vector<LeafId> leaves;
  for (const auto& choice : offered) leaves.push_back(choice.leaf);
  const auto best = policies_.choose(leaves, {});
  if (!best) return std::nullopt;
  return *std::find_if(offered.begin(), offered.end(), [&](const Choice& choice) { return choice.leaf == *best; });
}

// The next leaf: of a suspect one for itself, of any other the best.
void Canary::ask(Instant now, Actions& actions) {
  waits_ = false;
  review_silences();
  if (rests_until_ && now < *rests_until_) {
    waits_ = true;
    return;
  }
  if (std::exchange(rests_until_, std::nullopt) && suspicions() >= Quarantine::suspicions_for_conviction) {
    return decide(CanaryVerdict::guilty, now, actions);
  }
  const bool alone = suspicions() > 0;
  if (reserved_ && (!policies_.replica_choice.is_up(*reserved_))) release();
  std::optional<Choice> choice;
  if (reserved_) {
    if (leaves_.running(*reserved_) > 0) {
      waits_ = true;
      return;
    }
    for (const Partition& partition : partitions_) {
      if (std::find(partition.replicas.begin(), partition.replicas.end(), *reserved_) == partition.replicas.end()) continue;
      choice = Choice{*reserved_, partition.partition};
      if (!attempts_.empty() && partition.partition == attempts_.front().partition) break;
    }
  } else {
    choice = choose(alone);
  }
  if (choice) {
    if (alone && !reserved_) {
      leaves_.reserve(choice->leaf);
      reserved_ = choice->leaf;
    }
    return send(*choice, now, actions);
  }
  if (alone) {
    // Everyone who is up runs canaries: whoever runs the fewest gets no further ones.
    const auto open = candidates(true, false);
    if (!open.empty()) {
      const auto quietest = std::min_element(open.begin(), open.end(), [this](const Choice& a, const Choice& b) {
        return leaves_.running(a.leaf) < leaves_.running(b.leaf);
      });
      leaves_.reserve(quietest->leaf);
      reserved_ = quietest->leaf;
      waits_ = true;
      return;
    }
  }
  const bool any_closed = std::any_of(partitions_.begin(), partitions_.end(), [this](const Partition& partition) {
    return std::any_of(partition.replicas.begin(), partition.replicas.end(), [this](LeafId leaf) {
      const auto tried = [leaf](const Attempt& attempt) { return attempt.leaf == leaf; };
      return policies_.replica_choice.is_up(leaf) && !leaves_.open(leaf) &&
             std::none_of(attempts_.begin(), attempts_.end(), tried);
    });
  });
  if (any_closed && (now < end_ || alone)) {
    waits_ = true;
    return;
  }
  undecided(any_closed ? CanaryVerdict::late : refusals_ > 0 ? CanaryVerdict::refused : CanaryVerdict::no_leaf, now, actions);
}

void Canary::send(const Choice& choice, Instant now, Actions& actions) {
  const AttemptId id{static_cast<std::uint32_t>(attempts_.size())};
  // Whoever decides about a suspect gets as much time as the first one had, whether or not anybody still waits.
  const Instant end = suspicions() > 0 ? std::max(end_, now + (end_ - started_)) : end_;
  attempts_.push_back({choice.partition, choice.leaf, now, end});
  attempts_.back().alone = suspicions() > 0;
  policies_.on_sent(choice.leaf, AttemptKind::canary, now);
  leaves_.on_sent(choice.leaf);
  actions.push_back(SendAttempt{id, choice.partition, choice.leaf, AttemptKind::canary, std::nullopt});
}

void Canary::suspect(Instant now, Actions& actions) {
  release();
  if (suspicions() >= Quarantine::suspicions_for_conviction) return decide(CanaryVerdict::guilty, now, actions);
  if (anything_under_way()) return;  // a second canary was sent before, because the first was late: it decides
  ask(now, actions);
}

// Nothing is held against anybody before it is known who else was lost.
void Canary::on_dead(Attempt& attempt, const CanaryLeaves::Loss& loss, Instant now) {
  release();
  attempt.lost = now;
  attempt.held_up = loss.held_up;
  attempt.went_silent = loss.how == LeafLoss::silent;
  const Instant settled = now + (loss.held_up ? settings_.settle_after_hold_up : settings_.settle);
  judge_at_ = judge_at_ ? std::max(*judge_at_, settled) : settled;
}

void Canary::judge(Instant now, Actions& actions) {
  judge_at_.reset();
  Instant first = now;
  for (const Attempt& attempt : attempts_) {
    if (attempt.state == State::dead) first = std::min(first, attempt.lost);
  }
  const bool everybody = leaves_.most_died(first - settings_.settle);
  for (Attempt& attempt : attempts_) {
    if (attempt.state != State::dead) continue;
    if (everybody || (!attempt.judged && attempt.held_up && (attempt.went_silent || leaves_.is_up(attempt.leaf)))) {
      if (attempt.judged) --crashes_;
      attempt.state = State::ended;
    } else if (!attempt.judged) {
      ++crashes_;
    }
    attempt.judged = true;
  }
  review_silences();
  if (suspicions() > 0) return suspect(now, actions);
  if (anything_under_way()) return;
  if (++forgiven_ + refusals_ < settings_.most_refusals && now < end_ && !abandoned_) return ask(now, actions);
  undecided(abandoned_ ? CanaryVerdict::abandoned : CanaryVerdict::late, now, actions);
}

void Canary::on_silent(Attempt& attempt, Instant now, Actions& actions) {
  release();
  attempt.lost = now;
  // Only one that was sent after a first suspicion, and alone, adds to it. And there is no silence beside nobody.
  const bool counts = (attempt.alone || suspicions() == 0) && leaves_.others_up(attempt.leaf);
  attempt.state = counts ? State::silent : State::ended;
  if (counts) ++silences_;
  review_silences();
  if (anything_under_way()) return;
  const Instant known = now + settings_.silent_together;  // who else falls silent
  if (suspicions() == 0 && (abandoned_ || ++forgiven_ + refusals_ >= settings_.most_refusals || known >= end_)) {
    return decide(abandoned_ ? CanaryVerdict::abandoned : CanaryVerdict::late, now, actions);
  }
  rests_until_ = known;
  waits_ = true;
}

void Canary::review_silences() {
  for (Attempt& attempt : attempts_) {
    if (attempt.state != State::silent) continue;
    const auto together = settings_.silent_together;
    if (!leaves_.others_silent(attempt.leaf, attempt.lost - together, attempt.lost + together)) continue;
    attempt.state = State::ended;
    --silences_;
  }
}

void Canary::undecided(CanaryVerdict verdict, Instant now, Actions& actions) {
  if (anything_under_way()) return;
  decide(verdict, now, actions);
}

void Canary::decide(CanaryVerdict verdict, Instant now, Actions& actions) {
  verdict_ = verdict;
  waits_ = false;
  judge_at_.reset();
  release();
  if (verdict != CanaryVerdict::safe) return;
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    Attempt& other = attempts_[i];
    if (other.state != State::outstanding) continue;
    policies_.on_given_up(other.leaf, AttemptKind::canary, now - other.sent, now);
    end(other, State::ended);
    actions.push_back(CancelAttempt{AttemptId{i}});
  }
}

bool Canary::anything_under_way() const {
  return waits_ || judge_at_ || std::any_of(attempts_.begin(), attempts_.end(),
                               [](const Attempt& attempt) { return attempt.state == State::outstanding; });
}

void Canary::end(Attempt& attempt, Attempt::State state) {
  if (attempt.state == State::outstanding) {
    leaves_.on_ended(attempt.leaf);
    if (attempt.overdue) leaves_.on_overdue_ended();
  }
  attempt.state = state;
}

void Canary::release() {
  if (!reserved_) return;
  leaves_.release(*reserved_);
  reserved_.reset();
}

bool Canary::hang_counts(const Attempt& attempt, Instant now) {
  if (leaves_.answered_since(attempt.end)) return true;
  const auto own = std::count_if(attempts_.begin(), attempts_.end(), [](const Attempt& a) {
    return a.state == State::outstanding && a.overdue;
  });
  if (leaves_.overdue() > static_cast<std::uint32_t>(own)) leaves_.on_shared_silence(now);
  return !leaves_.shared_silence(now);
}

void Canary::wish(Instant now, Actions& actions) {
  if (verdict_) return;
  std::optional<Instant> at;
  const auto sooner = [&](Instant instant) { at = at ? std::min(*at, instant) : instant; };
  for (const Attempt& attempt : attempts_) {
    if (attempt.state != State::outstanding) continue;
    sooner(attempt.overdue ? attempt.end + settings_.hang_time + slack_ : attempt.end);
  }
  if (patience_ends_) sooner(*patience_ends_);
  if (judge_at_) sooner(*judge_at_);
  if (waits_ && !judge_at_) sooner(rests_until_ && *rests_until_ > now ? *rests_until_ : now + look_again);
  if (!at || at == wake_at_) return;
  wake_at_ = at;
  actions.push_back(WakeAt{*at});
}

}  // namespace hedgerow::policy
