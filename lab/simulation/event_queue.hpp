// What will happen in a simulation, in order of time; what happens at one instant, in the order in which it was added.
//
// A heap with four children to a node, of small records without owners: no allocation for an event once the room has
// grown, and few cache lines for a pop. An event cannot be taken back; who is told of it looks whether it still matters.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"

namespace hedgerow::lab::simulation {

enum class EventKind : std::uint8_t {
  query_arrives,    // at root `subject`
  query_wakes,      // query `subject`, of generation `detail`
  client_leaves,    // of query `subject`, of generation `detail`
  query_is_dropped, // query `subject`, of generation `detail`
  attempt_arrives,  // at its leaf: attempt `subject`
  service_ends,     // of attempt `subject`
  outcome_arrives,  // at the root, of attempt `subject`: outcome `detail`
  cancel_arrives,   // at its leaf: attempt `subject`
  twin_began,       // query `subject`'s attempt `detail` need not be done: its twin has begun
  background_arrives, // at leaf `subject`: work of a competing job
  background_ends,    // at leaf `subject`, of the worker's term `detail`
  time_is_over,       // of attempt `subject`, on its leaf
  upkeep_changes,     // begins or ends on leaf `subject`
  canaries_wake,      // of root `subject`
  canaries_beat,      // of all roots
  leaf_dies,          // leaf `subject`, of a query
  leaf_restarts,      // leaf `subject`, which died
  speller_answers,    // call `subject`
  subsystems_wake,    // of query `subject`, of generation `detail`
  place_is_free,      // on root `subject`: who waits may be let in
  waiting_ends,       // of query `detail` in the waiting room of root `subject`
  fault_begins,     // fault `subject`
  fault_ends,       // fault `subject`
  leaf_is_missed,   // leaf `subject`: roots notice that its links ended, as the policy::LeafLoss `detail` says
  leaf_returns,     // leaf `subject`: roots have links to it again
  budget_changes,   // to change `subject` of the schedule
  second_passes,    // for what is looked at once a second
};

// What comes again and again by itself, whatever queries do.
constexpr bool is_beat(EventKind kind) {
  return kind == EventKind::background_arrives || kind == EventKind::background_ends || kind == EventKind::upkeep_changes ||
         kind == EventKind::canaries_beat || kind == EventKind::second_passes;
}

struct Event {
  Instant at;
  std::uint64_t place;  // the order of adding, and below it the kind
  std::uint32_t subject;
  std::uint32_t detail;

  EventKind kind() const { return static_cast<EventKind>(place & 0xff); }
};

class EventQueue {
 public:
  void push(Instant at, EventKind kind, std::uint32_t subject, std::uint32_t detail = 0) {
    const Event event{at, (++added_ << 8) | static_cast<std::uint64_t>(kind), subject, detail};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(event, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
    beats_ += is_beat(kind);
  }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  // Whether nothing is ahead but what comes by itself.
  bool only_beats() const { return beats_ == heap_.size(); }
  std::uint64_t added() const { return added_; }

  // Precondition: not empty.
  Event pop() {
    assert(!heap_.empty());
    const Event first = heap_.front();
    beats_ -= is_beat(first.kind());
    const Event last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return first;
    // The hole goes down to the bottom, and the last event up from there: it is nearly always a late one.
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = 4 * hole + 1) {
      std::size_t best = child;
      const std::size_t end = child + 4 < size ? child + 4 : size;
      for (std::size_t other = child + 1; other < end; ++other) {
        if (before(heap_[other], heap_[best])) best = other;
      }
      heap_[hole] = heap_[best];
      hole = best;
    }
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(last, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = last;
    return first;
  }

 private:
  static bool before(const Event& a, const Event& b) { return a.at < b.at || (a.at == b.at && a.place < b.place); }

  std::vector<Event> heap_;
  std::uint64_t added_ = 0;
  std::size_t beats_ = 0;
};

}  // namespace hedgerow::lab::simulation
