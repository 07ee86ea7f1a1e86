#include "root/policy/query/second_phase.hpp"

#include <algorithm>
#include <map>

namespace hedgerow::policy {

Duration second_phase_reserve(Duration total, LatencyModel& recent, Instant now, const ReserveSettings& settings) {
  const auto p99 = recent.quantile(0.99, now);
  const auto times = [](Duration duration, double factor) {
    return Duration{static_cast<Duration::rep>(static_cast<double>(duration.count()) * factor)};
  };
  const Duration wanted = p99 ? std::max(settings.floor, times(*p99, settings.air)) : 4 * settings.floor;
  return std::min(std::max(wanted, times(total, settings.share)), total / 4);
}

Instant early_fetch_instant(Instant search_start, Instant search_end, Duration reserve) {
  return std::max(search_end - 2 * reserve, search_start + (search_end - search_start) / 2);
}

SecondPhase::SecondPhase(std::vector<Hit> hits, Instant deadline, Duration patience, ReplicaChoice& replica_choice)
    : hits_(std::move(hits)),
      hits_state_(hits_.size()),
      deadline_(deadline),
      patience_(patience),
      replica_choice_(replica_choice) {
  for (std::size_t i = 0; i < hits_.size(); ++i) hits_state_[i].delivered = hits_[i].delivered;
}

SecondPhase::~SecondPhase() {
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) end(AttemptId{i});
}

Actions SecondPhase::add(std::vector<Hit> hits, Instant now) {
  Actions actions;
  std::vector<std::size_t> added;
  for (auto& hit : hits) {
    if (!hit.delivered) added.push_back(hits_.size());
    hits_state_.emplace_back().delivered = hit.delivered;
    hits_.push_back(std::move(hit));
  }
  if (now < deadline_) send(added, true, actions);
  return actions;
}

void SecondPhase::drop(std::size_t place) { hits_state_[place].delivered = true; }

Actions SecondPhase::start(Instant now) {
  Actions actions;
  started_ = true;
  std::vector<std::size_t> never_asked;
  for (std::size_t place = 0; place < hits_.size(); ++place) {
    if (!has(place) && hits_state_[place].tried.empty()) never_asked.push_back(place);
  }
  if (now < deadline_) send(never_asked, true, actions);
  second_try_at_ = now + std::min<Duration>((deadline_ - now) / 2, patience_);
  actions.push_back(WakeAt{second_try_at_});
  finish_if_done(actions);
  return actions;
}

SecondPhase::AnswerVerdict SecondPhase::on_answer(AttemptId attempt, Instant) {
  AnswerVerdict verdict;
  end(attempt);
  if (finished_) return verdict;
  for (const std::size_t place : attempts_[attempt.value].places) {
    if (hits_state_[place].delivered) continue;
    hits_state_[place].delivered = true;
    verdict.take.push_back(place);
  }
  // Whoever else was asked only for what is here now need not answer any more.
  for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
    const auto& places = attempts_[i].places;
    const bool pointless = std::all_of(places.begin(), places.end(), [&](auto place) { return has(place); });
    if (!attempts_[i].outstanding || !pointless) continue;
    end(AttemptId{i});
    verdict.actions.push_back(CancelAttempt{AttemptId{i}});
  }
  finish_if_done(verdict.actions);
  return verdict;
}

Actions SecondPhase::on_failure(AttemptId attempt, Instant now) {
  Actions actions;
  if (finished_ || !attempts_[attempt.value].outstanding) return actions;
  end(attempt);
  std::vector<std::size_t> again;
  for (const std::size_t place : attempts_[attempt.value].places) {
    if (!has(place) && hits_state_[place].outstanding == 0) again.push_back(place);
  }
  if (now < deadline_) send(again, false, actions);
  finish_if_done(actions);
  return actions;
}

Actions SecondPhase::on_wake(Instant now) {
  Actions actions;
  if (finished_) return actions;
  if (now >= deadline_) {
    for (std::uint32_t i = 0; i < attempts_.size(); ++i) {
      if (!attempts_[i].outstanding) continue;
      end(AttemptId{i});
      actions.push_back(CancelAttempt{AttemptId{i}});
    }
    finished_ = true;
    actions.push_back(Finish{FinishReason::deadline});
    return actions;
  }
  if (now >= second_try_at_ && !second_try_done_) {
    second_try_done_ = true;
    std::vector<std::size_t> silent;
    for (std::size_t place = 0; place < hits_.size(); ++place) {
      if (!has(place)) silent.push_back(place);
    }
    send(silent, false, actions);
  }
  actions.push_back(WakeAt{second_try_done_ ? deadline_ : second_try_at_});
  return actions;
}

void SecondPhase::send(const std::vector<std::size_t>& places, bool prefer_finder, Actions& actions) {
  std::map<LeafId, std::vector<std::size_t>> by_leaf;
  for (const std::size_t place : places) {
    const Hit& hit = hits_[place];
    const bool finder_first = prefer_finder && replica_choice_.is_up(hit.found_by);
    const auto leaf = finder_first ? std::optional(hit.found_by)
                                   : replica_choice_.choose(hit.replicas, hits_state_[place].tried);
    if (leaf) by_leaf[*leaf].push_back(place);
  }
  for (auto& [leaf, wanted] : by_leaf) {
    const AttemptId id{static_cast<std::uint32_t>(attempts_.size())};
    for (const std::size_t place : wanted) {
      hits_state_[place].tried.push_back(leaf);
      ++hits_state_[place].outstanding;
    }
    replica_choice_.on_sent(leaf);
    attempts_.push_back({leaf, wanted, true});
    actions.push_back(SendFetch{id, leaf, std::move(wanted)});
  }
}

void SecondPhase::end(AttemptId id) {
  Attempt& attempt = attempts_[id.value];
  if (!attempt.outstanding) return;
  attempt.outstanding = false;
  for (const std::size_t place : attempt.places) --hits_state_[place].outstanding;
  replica_choice_.on_ended(attempt.leaf);
}

void SecondPhase::finish_if_done(Actions& actions) {
  if (finished_ || !started_) return;
  bool all_here = true;
  for (const auto& hit : hits_state_) {
    if (hit.outstanding > 0 && !hit.delivered) return;
    all_here = all_here && hit.delivered;
  }
  finished_ = true;
  actions.push_back(Finish{all_here ? FinishReason::complete : FinishReason::exhausted});
}

}  // namespace hedgerow::policy
