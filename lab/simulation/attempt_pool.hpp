// The attempts that are under way: one record for each, for the root's half and the leaf's half of its life.
//
// A record is held by its query, by every event about it, and by the queue it waits in; when the last lets go it is used
// again. So nothing is allocated for an attempt once the pool has grown, and what is still held when a simulation is over
// has been forgotten by somebody.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "leaf/work_queue.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::lab::simulation {

using AttemptSlot = std::uint32_t;

// What a leaf says of an attempt.
enum class Outcome : std::uint8_t { answered, refused, expired, failed, superseded, unreachable };

struct AttemptRecord {
  enum class Stage : std::uint8_t { travelling, queued, running, over };

  std::uint32_t query = 0, query_generation = 0;
  std::uint32_t root = 0;
  AttemptId id;
  PartitionId partition;
  std::uint32_t index = 0;  // the partition's place in the query
  LeafId leaf;
  AttemptKind kind = AttemptKind::primary;
  ServiceClass service_class = ServiceClass::interactive;
  std::optional<policy::Twin> twin;
  Instant deadline;
  std::uint32_t link = 0;   // the term of the link that it was sent on
  std::uint32_t parts = 1;  // attempts in its frame
  std::uint32_t draws = 1;  // of the leaf's service time
  std::uint64_t trial = 0;  // of a canary, which has no query; 0: of none
  bool deadly = false;      // the leaf that begins it dies
  Duration shared{};        // of its service, the same for all of its query

  Stage stage = Stage::travelling;  // on the leaf
  bool superseded_early = false;    // its twin began before it had arrived
  bool race_counted = false;        // both of the pair have begun, and that is known
  std::uint32_t running_place = 0;  // among what runs on the leaf
  std::uint32_t holds = 0;
  std::optional<leaf::WorkQueue<AttemptSlot>::Place> place;
  Instant arrived, started;
  Duration queue_time{}, service_time{};
  std::uint32_t queued = 0, running = 0;  // the leaf's load when it answered
};

class AttemptPool {
 public:
  // Held once, by the caller.
  AttemptSlot take() {
    ++taken_;
    if (free_.empty()) {
      records_.emplace_back();
      records_.back().holds = 1;
      return static_cast<AttemptSlot>(records_.size() - 1);
    }
    const AttemptSlot slot = free_.back();
    free_.pop_back();
    records_[slot] = AttemptRecord{};
    records_[slot].holds = 1;
    return slot;
  }
  void hold(AttemptSlot slot) { ++records_[slot].holds; }
  void release(AttemptSlot slot) {
    assert(records_[slot].holds > 0);
    if (--records_[slot].holds > 0) return;
    free_.push_back(slot);
    --taken_;
  }

  AttemptRecord& operator[](AttemptSlot slot) { return records_[slot]; }
  const AttemptRecord& operator[](AttemptSlot slot) const { return records_[slot]; }
  // Slots that were ever used; holds says whether one is now.
  std::size_t size() const { return records_.size(); }
  std::size_t taken() const { return taken_; }

 private:
  std::vector<AttemptRecord> records_;
  std::vector<AttemptSlot> free_;
  std::size_t taken_ = 0;
};

}  // namespace hedgerow::lab::simulation
