// A leaf in virtual time: the work queue of the real one (leaf/work_queue) before workers that take as long as a
// distribution says, with cancelling, tied pairs, a competing job, and what can go wrong.
//
// What it says to roots and to other leaves it puts into the event queue; it never calls them. An attempt has exactly one
// end here: answered, failed in some way, cancelled, superseded, swallowed by a fault, or lost with the process.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "lab/simulation/attempt_pool.hpp"
#include "lab/simulation/event_queue.hpp"
#include "lab/simulation/network.hpp"
#include "lab/simulation/report.hpp"
#include "lab/simulation/slow_periods.hpp"
#include "lab/simulation/world.hpp"
#include "leaf/service_times.hpp"
#include "leaf/work_queue.hpp"

namespace hedgerow::lab::simulation {

// What all leaves of a simulation use; the simulation owns it.
struct LeafSurroundings {
  const WorldSettings& settings;
  EventQueue& events;
  AttemptPool& attempts;
  Network& network;
  LeafFigures& figures;
  SlowPeriodProcess& shared_slow_periods;
};

class SimulatedLeaf {
 public:
  SimulatedLeaf(LeafId id, const LeafSurroundings& surroundings, Random random);

  void receive(AttemptSlot attempt, Instant now);
  void cancel(AttemptSlot attempt, Instant now);
  // Its service is over; true: its answer is to be given now, by the caller (nothing delays it).
  bool end_service(AttemptSlot attempt, Instant now);
  // Its time is over: what waits or runs ends then, and not when its turn comes. (Only canaries are told so: what belongs to a
  // query its root cancels at the same time.)
  void expire(AttemptSlot attempt, Instant now);
  // The attempt need not be done, since its twin has begun.
  void supersede(AttemptSlot attempt, AttemptSlot twin, Instant now);
  void receive_background(Instant now);
  void end_background(std::uint32_t term, Instant now);

  // Upkeep: no work is begun until it ends.
  void begin_upkeep() { ++pauses_; }
  void end_upkeep(Instant now) { go_on(now); }

  // A query took it down; and it is there again.
  void die(Instant now) {
    ++crashes_;
    ++around_.figures.killed;
    lose_work(now);
  }
  void restart() { --crashes_; }

  void begin_fault(const Fault& fault, Instant now);
  void end_fault(const Fault& fault, Instant now);
  // All that waits or runs is gone: the process ended, or nobody could be told of it.
  void lose_work(Instant now);
  // The process stands still until then.
  std::optional<Instant> frozen_until(Instant now) const {
    return now < frozen_until_ ? std::optional(frozen_until_) : std::nullopt;
  }
  bool runs() const { return crashes_ == 0; }

  // Of the queries' work; a competing job's may wait for ever behind a pause that never ends.
  std::size_t waiting() const {
    return queue_->waiting(ServiceClass::interactive) + queue_->waiting(ServiceClass::batch) - background_waiting_;
  }
  std::size_t running() const { return running_.size() + background_running_; }

 private:
  using Queue = leaf::WorkQueue<AttemptSlot>;
  static constexpr AttemptSlot background_work = ~AttemptSlot{0};

  Queue empty_queue() const;
  bool meets(FaultKind kind, const Fault** found = nullptr);
  void start_waiting(Instant now);
  void go_on(Instant now) {
    if (--pauses_ == 0) start_waiting(now);
  }
  void start(AttemptSlot attempt, Instant now);
  Duration service(const AttemptRecord& record, Instant now);
  leaf::ServiceTimes& times_of(ServiceClass service_class) { return times_[static_cast<std::size_t>(service_class)]; }
  void leave_worker(AttemptSlot attempt, Instant now);
  void fail(AttemptSlot attempt, Outcome outcome, Instant now);
  // Sends it to the root: at its link's pace, and so much later.
  void post(AttemptSlot attempt, Outcome outcome, Instant now, Duration late = {});
  void end(AttemptSlot attempt) { around_.attempts[attempt].stage = AttemptRecord::Stage::over; }

  LeafId id_;
  LeafSurroundings around_;
  Random random_;
  SlowPeriodProcess slow_periods_;
  const bool unlimited_;
  std::optional<Queue> queue_;
  std::array<leaf::ServiceTimes, 2> times_;  // by service class
  std::vector<AttemptSlot> running_;
  std::size_t background_waiting_ = 0, background_running_ = 0;
  std::uint32_t term_ = 0;  // of the process, for background work
  std::vector<const Fault*> faults_;
  int pauses_ = 0, crashes_ = 0;
  Instant frozen_until_;
};

}  // namespace hedgerow::lab::simulation
