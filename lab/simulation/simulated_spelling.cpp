// Spelling beside the hits, of a root in virtual time: the host of policy::Subsystems, as root/subsystem_runner is on Asio.
#include "lab/simulation/simulated_root.hpp"

#include <algorithm>

namespace hedgerow::lab::simulation {

void SimulatedRoots::ask_spellers(QuerySlot slot, bool shed, Instant now) {
  Query& query = queries_[slot];
  query.subsystems = std::make_unique<policy::Subsystems>(query.search_end, std::nullopt, policies_[query.root]->replica_choice,
                                                          *subsystem_models_[query.root]);
  if (shed) query.subsystems->shed();
  policy::Subsystems::Part part;
  for (std::size_t i = 0; i < settings_.spellers->count; ++i)
    part.replicas.push_back(LeafId{static_cast<std::uint32_t>(settings_.leaves + i)});
  perform_parts(slot, query.subsystems->add(policy::SubsystemKind::spelling, {part}, now), now);
  perform_parts(slot, query.subsystems->close(policy::SubsystemKind::spelling, now), now);
}

// A call that is cancelled is answered all the same, and nobody listens.
void SimulatedRoots::perform_parts(QuerySlot slot, const policy::Actions& actions, Instant now) {
  const std::uint32_t generation = queries_[slot].generation;
  for (const policy::Action& action : actions) {
    if (const auto* sent = std::get_if<policy::SendParts>(&action)) {
      if (free_calls_.empty()) {
        free_calls_.push_back(static_cast<std::uint32_t>(speller_calls_.size()));
        speller_calls_.emplace_back();
      }
      const std::uint32_t call = free_calls_.back();
      free_calls_.pop_back();
      speller_calls_[call] = {slot, generation, sent->attempt};
      events_.push(now + settings_.spellers->time.draw(random_), EventKind::speller_answers, call);
    } else if (const auto* wake = std::get_if<policy::WakeAt>(&action)) {
      events_.push(std::max(wake->at, now), EventKind::subsystems_wake, slot, generation);
    }
  }
}

void SimulatedRoots::on_speller_answer(std::uint32_t call, Instant now) {
  const SpellerCall answered = speller_calls_[call];
  free_calls_.push_back(call);
  Query* query = find(answered.query, answered.generation);
  if (!query || query->concluded) return;
  perform_parts(answered.query, query->subsystems->on_answer(answered.attempt, now).actions, now);
  conclude_if_ended(answered.query, now);
}

void SimulatedRoots::on_subsystems_wake(QuerySlot slot, std::uint32_t generation, Instant now) {
  Query* query = find(slot, generation);
  if (!query || query->concluded) return;
  perform_parts(slot, query->subsystems->on_wake(now), now);
  conclude_if_ended(slot, now);
}

void SimulatedRoots::conclude_if_ended(QuerySlot slot, Instant now) {
  const Query& query = queries_[slot];
  if (!query.answered || query.concluded || !query.subsystems->finished()) return;
  conclude(slot, now);
  if (settings_.linger <= Duration::zero()) drop(slot, now);
}

}  // namespace hedgerow::lab::simulation
