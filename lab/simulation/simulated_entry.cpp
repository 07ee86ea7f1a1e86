// A query's way into its root: the waiting room, and then the canaries.
#include "lab/simulation/simulated_root.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hedgerow::lab::simulation {

namespace {

// As many partitions as it wants, or under load a share of them, though never fewer than it can do with.
std::size_t width_of(const QueryShape& shape, std::size_t partitions, double share) {
  const std::size_t wanted = shape.width == 0 ? partitions : std::min(shape.width, partitions);
  if (share >= 1 || !shape.partial) return wanted;
  const double enough = shape.good_enough.min_completeness < 1 ? shape.good_enough.min_completeness : 0;
  const double narrowed = std::ceil(static_cast<double>(wanted) * std::max(share, enough));
  return std::clamp<std::size_t>(static_cast<std::size_t>(narrowed), 1, wanted);
}

}  // namespace

void SimulatedRoots::on_arrival(std::uint32_t root, bool measured, Instant now) {
  const std::size_t shape = draw_shape();
  const Guest guest{shape, measured, now, settings_.shapes[shape].deadline, settings_.shapes[shape].service_class, Instant::max()};
  if (rooms_.empty()) return enter(root, guest, {}, now);

  const auto verdict = rooms_[root]->on_arrival(guest, now);
  // It may be this one's turn already.
  call_waiting(root, now);
  switch (verdict.entry) {
    case policy::Admission::Entry::admitted:
      return enter(root, guest, rooms_[root]->admission().shedding(guest.service_class, now), now);
    case policy::Admission::Entry::refused: return refuse(guest, now);
    case policy::Admission::Entry::waits:
      return events_.push(verdict.give_up, EventKind::waiting_ends, root, static_cast<std::uint32_t>(verdict.number));
  }
}

void SimulatedRoots::on_waiting_ends(std::uint32_t root, std::uint32_t number, Instant now) {
  const auto guest = rooms_[root]->give_up(number, now);
  if (!guest) return;
  refuse(*guest, now);
  call_waiting(root, now);
}

void SimulatedRoots::call_waiting(std::uint32_t root, Instant now) {
  while (const auto guest = rooms_[root]->next(now)) {
    enter(root, *guest, rooms_[root]->admission().shedding(guest->service_class, now), now);
  }
}

std::size_t SimulatedRoots::waiting_queries() const {
  std::size_t waiting = 0;
  for (const auto& room : rooms_) waiting += room->waiting();
  for (const auto& canaries : canaries_) waiting += canaries->idle() ? 0 : 1;
  return waiting;
}

void SimulatedRoots::refuse(const Guest& guest, Instant now) {
  ++report_.queries;
  invariants_->on_turned_away(guest.arrived + guest.given, now);
  count(guest.measured, guest.arrived, [](QueryFigures& figures) { ++figures.refused; });
  if (observer_) observer_({guest.shape, guest.measured, guest.arrived, now - guest.arrived, false, nullptr});
}

void SimulatedRoots::enter(std::uint32_t root, const Guest& guest, const policy::Admission::Shedding& shedding, Instant now) {
  const QueryShape& shape = settings_.shapes[guest.shape];
  Candidate candidate{guest, now, draw_partitions(width_of(shape, partitions_.size(), shedding.fanout)), ""};
  if (shape.shared) candidate.shared = shape.shared->draw(random_);
  candidate.draws = static_cast<std::uint32_t>(shape.draws);
  candidate.deadly = shape.deadly;
  candidate.sheds_subsystems = shedding.subsystems;
  if (!rooms_.empty()) invariants_->on_let_in(root, guest.service_class, guest.give_up, now);
  if (canaries_.empty()) return begin(root, {std::move(candidate), policy::CanaryAnswer::go}, now);
  const std::uint64_t text = shape.texts == 0 ? ++texts_ : random_.below(shape.texts);
  candidate.fingerprint = (shape.texts == 0 ? "new " : std::to_string(guest.shape) + " ") + std::to_string(text);
  canaries_[root]->ask(std::move(candidate), now);
  listen_to_canaries(root, now);
}

void SimulatedRoots::on_canaries_wake(std::uint32_t root, Instant now) {
  canaries_[root]->on_wake(now);
  listen_to_canaries(root, now);
}

void SimulatedRoots::on_canaries_beat(Instant now) {
  for (auto& canaries : canaries_) canaries->on_beat(now);
}

void SimulatedRoots::listen_to_canaries(std::uint32_t root, Instant now) {
  while (auto word = canaries_[root]->next_told()) {
    if (word->answer == policy::CanaryAnswer::go) {
      begin(root, std::move(*word), now);
    } else {
      turn_away(root, *word, now);
    }
  }
}

void SimulatedRoots::turn_away(std::uint32_t root, const SimulatedCanaries::Told& word, Instant now) {
  ++report_.queries;
  const Guest& guest = word.candidate.guest;
  invariants_->on_turned_away(guest.arrived + guest.given, now);
  const bool quarantined = word.answer == policy::CanaryAnswer::quarantined;
  count(guest.measured, guest.arrived,
        [&](QueryFigures& figures) { ++(quarantined ? figures.quarantined : figures.without_verdict); });
  if (observer_) observer_({guest.shape, guest.measured, guest.arrived, now - guest.arrived, false, nullptr});
  if (rooms_.empty()) return;
  invariants_->on_left(root, guest.service_class);
  rooms_[root]->on_ended({.service_class = guest.service_class, .admitted = word.candidate.admitted, .given = guest.given}, now);
  events_.push(now, EventKind::place_is_free, root);
}

}  // namespace hedgerow::lab::simulation
