#include "lab/simulation/simulated_leaf.hpp"

#include <algorithm>
#include <cassert>

namespace hedgerow::lab::simulation {

using Stage = AttemptRecord::Stage;

namespace {

// Batch has no workers of its own here; the interactive's do both.
constexpr ServiceClass crew = ServiceClass::interactive;

}  // namespace

SimulatedLeaf::SimulatedLeaf(LeafId id, const LeafSurroundings& surroundings, Random random)
    : id_(id),
      around_(surroundings),
      random_(random),
      slow_periods_(surroundings.settings.slow_periods, Random(random_.next())),
      unlimited_(surroundings.settings.workers == 0),
      queue_(empty_queue()) {}

SimulatedLeaf::Queue SimulatedLeaf::empty_queue() const {
  const std::size_t workers = unlimited_ ? ~std::size_t{0} : around_.settings.workers;
  leaf::QueueLimits limits;
  limits.interactive.hits = limits.batch.hits = {.waiting = around_.settings.queue_capacity, .running = workers};
  limits.batch_has_workers = false;
  return Queue(limits);
}

// Whether a fault of this kind is met by what is at hand.
bool SimulatedLeaf::meets(FaultKind kind, const Fault** found) {
  for (const Fault* fault : faults_) {
    if (fault->kind != kind || !random_.chance(fault->probability)) continue;
    if (found) *found = fault;
    return true;
  }
  return false;
}

void SimulatedLeaf::receive(AttemptSlot attempt, Instant now) {
  ++around_.figures.arrived;
  AttemptRecord& record = around_.attempts[attempt];
  record.arrived = now;
  if (!faults_.empty()) {
    if (meets(FaultKind::black_hole)) {
      ++around_.figures.swallowed;
      return end(attempt);
    }
    if (meets(FaultKind::refuse)) return fail(attempt, Outcome::refused, now);
    if (meets(FaultKind::error)) return fail(attempt, Outcome::failed, now);
  }
  if (record.trial > 0) {
    around_.attempts.hold(attempt);
    around_.events.push(std::max(record.deadline, now), EventKind::time_is_over, attempt);
  }
  if (record.superseded_early) return fail(attempt, Outcome::superseded, now);
  if (unlimited_ && pauses_ == 0) return start(attempt, now);

  const Duration yields = leaf::yield(record.parts, times_of(record.service_class).mean(), record.deadline - now);
  record.place = queue_->push(attempt, {leaf::WorkKind::search, record.service_class, record.deadline, yields}, now);
  if (!record.place) return fail(attempt, Outcome::refused, now);
  record.stage = Stage::queued;
  around_.attempts.hold(attempt);
  start_waiting(now);
}

// As the worker pool of the real leaf does it.
void SimulatedLeaf::start_waiting(Instant now) {
  while (pauses_ == 0 && queue_->ready(crew)) {
    const auto popped = queue_->pop(crew, now);
    if (popped->work == background_work) {
      --background_waiting_;
      ++background_running_;
      const Duration time = slow_periods_.stretched(around_.settings.background.service.draw(random_), now);
      around_.figures.background += time;
      around_.events.push(now + time, EventKind::background_ends, id_.value, term_);
      continue;
    }
    const AttemptSlot attempt = popped->work;
    const bool too_little = !popped->expired && queue_->waiting(popped->service_class, leaf::Lane::hits) > 0 &&
                            times_of(popped->service_class).too_little(popped->deadline - now, now);
    if (popped->expired || too_little) {
      queue_->finish(popped->kind, popped->service_class);
      fail(attempt, Outcome::expired, now);
    } else {
      start(attempt, now);
    }
    around_.attempts.release(attempt);  // the queue's hold; what runs is held by its end
  }
}

void SimulatedLeaf::start(AttemptSlot attempt, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  record.stage = Stage::running;
  record.started = now;
  record.queue_time = now - record.arrived;
  record.service_time = service(record, now);
  if (record.deadly) around_.events.push(now, EventKind::leaf_dies, id_.value);
  record.running_place = static_cast<std::uint32_t>(running_.size());
  running_.push_back(attempt);
  if (record.twin) {
    around_.attempts.hold(attempt);
    around_.events.push(around_.network.at_twin(now), EventKind::twin_began, attempt);
  }
  around_.attempts.hold(attempt);
  around_.events.push(now + record.service_time, EventKind::service_ends, attempt);
}

Duration SimulatedLeaf::service(const AttemptRecord& record, Instant now) {
  Duration time = record.shared;
  for (std::uint32_t draw = 0; draw < record.draws; ++draw) time += around_.settings.service.draw(random_);
  time = slow_periods_.stretched(time, now);
  time = around_.shared_slow_periods.stretched(time, now);
  if (faults_.empty()) return time;
  const Fault* fault = nullptr;
  if (meets(FaultKind::slow, &fault)) {
    time = Duration{static_cast<Duration::rep>(static_cast<double>(time.count()) * fault->factor)};
  }
  if (meets(FaultKind::hold, &fault)) time += fault->delay.draw(random_);
  return time;
}

// What it occupied is free, for whoever waits.
void SimulatedLeaf::leave_worker(AttemptSlot attempt, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  around_.figures.executed += now - record.started;
  const AttemptSlot last = running_.back();
  running_[record.running_place] = last;
  around_.attempts[last].running_place = record.running_place;
  running_.pop_back();
  end(attempt);
  if (!record.place) return;
  queue_->finish(leaf::WorkKind::search, record.service_class);
  const Duration took = now - record.started;
  times_of(record.service_class).add(took, took < record.service_time, now);
}

bool SimulatedLeaf::end_service(AttemptSlot attempt, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  if (record.stage != Stage::running) return false;  // it was cancelled, or the process ended
  // As the real leaf's worker does, it tells of the load before it takes the next piece.
  record.queued = static_cast<std::uint32_t>(queue_->waiting(record.service_class, leaf::Lane::hits));
  record.running = static_cast<std::uint32_t>(running_.size());
  leave_worker(attempt, now);
  ++around_.figures.answered;
  if (!unlimited_ || queue_->ready(crew)) start_waiting(now);
  if (faults_.empty()) {
    if (around_.network.instant()) return true;
    post(attempt, Outcome::answered, now);
    return false;
  }
  const Fault* fault = nullptr;
  const Duration late = meets(FaultKind::late, &fault) ? fault->delay.draw(random_) : Duration::zero();
  post(attempt, Outcome::answered, now, late);
  if (meets(FaultKind::duplicate, &fault)) post(attempt, Outcome::answered, now, late + fault->delay.draw(random_));
  return false;
}

void SimulatedLeaf::cancel(AttemptSlot attempt, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  switch (record.stage) {
    case Stage::travelling: return end(attempt);  // its link was lost with it
    case Stage::over: ++around_.figures.cancelled_too_late; return;
    case Stage::queued:
      ++around_.figures.cancelled_queued;
      queue_->remove(*record.place);
      end(attempt);
      around_.attempts.release(attempt);
      return;
    case Stage::running:
      ++around_.figures.cancelled_running;
      leave_worker(attempt, now);
      start_waiting(now);
      return;
  }
}

void SimulatedLeaf::expire(AttemptSlot attempt, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  switch (record.stage) {
    case Stage::travelling:
    case Stage::over: return;
    case Stage::queued:
      queue_->remove(*record.place);
      fail(attempt, Outcome::expired, now);
      around_.attempts.release(attempt);
      return;
    case Stage::running:
      leave_worker(attempt, now);
      fail(attempt, Outcome::expired, now);
      start_waiting(now);
      return;
  }
}

void SimulatedLeaf::supersede(AttemptSlot attempt, AttemptSlot twin, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  switch (record.stage) {
    case Stage::travelling: record.superseded_early = true; return;
    case Stage::over: return;
    case Stage::running:
      // Each tells the other, and it is one race.
      if (!record.race_counted) ++around_.figures.both_began;
      around_.attempts[twin].race_counted = true;
      return;
    case Stage::queued:
      queue_->remove(*record.place);
      fail(attempt, Outcome::superseded, now);
      around_.attempts.release(attempt);
      return;
  }
}

void SimulatedLeaf::receive_background(Instant now) {
  if (crashes_ > 0) return;
  const ServiceClass service_class = around_.settings.background.service_class;
  // It has no deadline; beyond the queue's bound it is dropped.
  const auto deadline = around_.settings.background.deadline;
  const auto place = queue_->push(background_work, {leaf::WorkKind::search, service_class, deadline ? now + *deadline : Instant::max(), {}}, now);
  if (place) ++background_waiting_;
  start_waiting(now);
}

void SimulatedLeaf::end_background(std::uint32_t term, Instant now) {
  if (term != term_) return;
  --background_running_;
  queue_->finish(leaf::WorkKind::search, around_.settings.background.service_class);
  start_waiting(now);
}

void SimulatedLeaf::begin_fault(const Fault& fault, Instant now) {
  faults_.push_back(&fault);
  switch (fault.kind) {
    case FaultKind::pause: ++pauses_; break;
    case FaultKind::freeze: frozen_until_ = std::max(frozen_until_, Instant{} + *fault.until); break;
    case FaultKind::crash:
      ++crashes_;
      lose_work(now);
      break;
    default: break;
  }
}

void SimulatedLeaf::end_fault(const Fault& fault, Instant now) {
  std::erase(faults_, &fault);
  if (fault.kind == FaultKind::crash) --crashes_;
  if (fault.kind == FaultKind::pause) go_on(now);
}

void SimulatedLeaf::lose_work(Instant now) {
  for (const AttemptSlot attempt : running_) {
    around_.figures.executed += now - around_.attempts[attempt].started;
    end(attempt);
  }
  running_.clear();
  background_waiting_ = background_running_ = 0;
  ++term_;
  Queue lost = std::move(*queue_);
  queue_.emplace(empty_queue());
  for (const auto service_class : {ServiceClass::interactive, ServiceClass::batch}) {
    for (auto left = lost.running(service_class); left > 0; --left) lost.finish(leaf::WorkKind::search, service_class);
  }
  while (auto popped = lost.pop(crew, now)) {
    lost.finish(popped->kind, popped->service_class);
    if (popped->work == background_work) continue;
    end(popped->work);
    around_.attempts.release(popped->work);
  }
}

void SimulatedLeaf::fail(AttemptSlot attempt, Outcome outcome, Instant now) {
  AttemptRecord& record = around_.attempts[attempt];
  switch (outcome) {
    case Outcome::refused: ++around_.figures.refused; break;
    case Outcome::expired: ++around_.figures.expired; break;
    case Outcome::superseded: ++around_.figures.superseded; break;
    default: ++around_.figures.failed; break;
  }
  record.queue_time = now - record.arrived;
  end(attempt);
  post(attempt, outcome, now);
}

void SimulatedLeaf::post(AttemptSlot attempt, Outcome outcome, Instant now, Duration late) {
  const AttemptRecord& record = around_.attempts[attempt];
  const Instant at = late > Duration::zero() ? now + late + (around_.network.at_twin(now) - now)
                                             : around_.network.at_root(record.root, id_, now);
  around_.attempts.hold(attempt);
  around_.events.push(at, EventKind::outcome_arrives, attempt, static_cast<std::uint32_t>(outcome));
}

}  // namespace hedgerow::lab::simulation
