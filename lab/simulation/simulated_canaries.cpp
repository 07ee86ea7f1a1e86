#include "lab/simulation/simulated_canaries.hpp"

#include <algorithm>
#include <cassert>
#include <utility>
#include <variant>

namespace hedgerow::lab::simulation {

namespace action = policy::canary_action;
using policy::CanaryAnswer;

SimulatedCanaries::SimulatedCanaries(std::uint32_t root, const policy::CanariesSettings& settings,
                                     policy::SearchPolicies& policies, EventQueue& events, AttemptPool& attempts, Ways ways,
                                     Random random)
    : root_(root), canaries_(settings, policies, random.next()), events_(events), attempts_(attempts), ways_(std::move(ways)) {}

void SimulatedCanaries::ask(Candidate candidate, Instant now) {
  if (const auto known = canaries_.known(candidate.fingerprint, false, now)) {
    told_.push_back({std::move(candidate), *known});
    return;
  }
  policy::Canaries::Question question{
      candidate.fingerprint, candidate.fingerprint, {}, candidate.guest.arrived + candidate.guest.given};
  for (const auto& partition : candidate.partitions) question.partitions.push_back({partition.partition, partition.replicas});
  auto asked = canaries_.ask(std::move(question), now);
  waiting_.emplace(asked.waiter, std::move(candidate));
  perform(std::move(asked.actions), now);
}

void SimulatedCanaries::on_outcome(AttemptSlot attempt, std::optional<policy::AttemptFailure> failure, Instant now) {
  const AttemptRecord& record = attempts_[attempt];
  const policy::TrialId trial{record.trial};
  const AttemptId id = record.id;
  const auto found = sent_.find({trial, id});
  // The trial is over, or this was told before.
  if (found == sent_.end() || !std::exchange(found->second.open, false)) return;
  const policy::AttemptReport report{record.queue_time, record.service_time, record.queued, record.running};
  perform(failure ? canaries_.on_failure(trial, id, *failure, now) : canaries_.on_answer(trial, id, report, now), now);
}

void SimulatedCanaries::on_wake(Instant now) {
  if (wake_at_ && *wake_at_ <= now) wake_at_.reset();
  perform(canaries_.on_wake(now), now);
}

void SimulatedCanaries::on_searched(const std::string& fingerprint, bool answers, bool whole, const std::vector<LeafId>& lost,
                                    Instant began, Instant now) {
  if (answers) canaries_.on_search_answered(now);
  if (!lost.empty()) {
    canaries_.on_leaves_lost(fingerprint, fingerprint, lost, began, now);
  } else if (whole) {
    canaries_.on_answered_whole(fingerprint);
  }
}

std::optional<SimulatedCanaries::Told> SimulatedCanaries::next_told() {
  if (told_.empty()) return std::nullopt;
  Told told = std::move(told_.front());
  told_.pop_front();
  return told;
}

void SimulatedCanaries::perform(policy::CanaryActions actions, Instant now) {
  for (const auto& one : actions) {
    if (const auto* begun = std::get_if<action::Begin>(&one)) {
      trials_.emplace(begun->trial, waiting_.at(begun->leader));
    } else if (const auto* sent = std::get_if<action::Send>(&one)) {
      send(*sent, now);
    } else if (const auto* cancelled = std::get_if<action::Cancel>(&one)) {
      ways_.cancel(sent_.at({cancelled->trial, cancelled->attempt}).slot, now);
    } else if (const auto* told = std::get_if<action::Tell>(&one)) {
      tell(*told);
    } else if (const auto* ended = std::get_if<action::End>(&one)) {
      trials_.erase(ended->trial);
      const auto first = sent_.lower_bound({ended->trial, AttemptId{0}});
      auto last = first;
      for (; last != sent_.end() && last->first.first == ended->trial; ++last) attempts_.release(last->second.slot);
      sent_.erase(first, last);
    }
    // Decided and Lifted are for the books of who runs a root.
  }
  wish(now);
}

void SimulatedCanaries::send(const action::Send& sent, Instant now) {
  const Candidate& candidate = trials_.at(sent.trial);
  const auto place = std::find_if(candidate.partitions.begin(), candidate.partitions.end(),
                                  [&](const auto& partition) { return partition.partition == sent.partition; });
  assert(place != candidate.partitions.end());
  const AttemptSlot slot = attempts_.take();
  AttemptRecord& record = attempts_[slot];
  record.trial = sent.trial.value;
  record.root = root_;
  record.id = sent.attempt;
  record.partition = sent.partition;
  record.leaf = sent.leaf;
  record.kind = AttemptKind::canary;
  record.service_class = candidate.guest.service_class;
  record.deadline = sent.end;
  record.shared = candidate.shared;
  record.draws = candidate.draws;
  record.deadly = candidate.deadly;
  sent_.emplace(std::pair{sent.trial, sent.attempt}, Sent{slot, static_cast<std::size_t>(place - candidate.partitions.begin())});
  ways_.send(slot, now);
}

void SimulatedCanaries::tell(const action::Tell& told) {
  auto waiter = waiting_.extract(told.waiter);
  assert(!waiter.empty());
  Told word{std::move(waiter.mapped()), told.answer};
  if (told.own && told.answered) {
    const Sent& sent = sent_.at({told.trial, *told.answered});
    word.place = sent.place;
    word.leaf = attempts_[sent.slot].leaf;
  }
  told_.push_back(std::move(word));
}

void SimulatedCanaries::wish(Instant now) {
  auto at = canaries_.wake_at();
  if (at) at = std::max(*at, now);
  if (!at || (wake_at_ && *wake_at_ <= *at)) return;
  wake_at_ = at;
  events_.push(*at, EventKind::canaries_wake, root_);
}

}  // namespace hedgerow::lab::simulation
