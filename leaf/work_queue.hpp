// The short queue in front of a leaf's workers, with two lanes: work for the hits, and side work. Pure: no threads, no
// clock, no Asio (the simulator runs it too).
//
// 1. Order: the smallest rank first, within a rank the earliest deadline, within a deadline first come first served.
// 2. Bound: each lane has its own; beyond it push refuses at once, so that the root can turn to a replica. Side work
//    cannot fill the lane of the hits.
// 3. Each lane has a most that may run at once; what is beyond it waits, and is overtaken by the other lane. So side
//    work, however long it takes, leaves a worker to the hits.
// 4. Work whose time has run out comes out flagged, to be answered and not executed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/clock.hpp"
#include "leaf/work_kind.hpp"

namespace hedgerow::leaf {

struct LaneLimits {
  std::size_t waiting = 0;
  std::size_t running = 0;
};

template <class Work>
class WorkQueue {
 public:
  // A piece of work's place in the queue.
  struct Place {
    Lane lane;
    int rank;
    Instant deadline;
    std::uint64_t arrival;
    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.rank, a.deadline, a.arrival) < std::tie(b.rank, b.deadline, b.arrival);
    }
  };
  struct Popped {
    Work work;
    Lane lane;
    Instant pushed_at;
    bool expired;  // its deadline is not after now
  };

  WorkQueue(LaneLimits hits, LaneLimits side) {
    of(Lane::hits).limits = hits;
    of(Lane::side).limits = side;
  }

  // nullopt: its lane is full.
  std::optional<Place> push(Work work, Lane lane, int rank, Instant deadline, Instant now) {
    LaneState& state = of(lane);
    if (state.entries.size() >= state.limits.waiting) return std::nullopt;
    const Place place{lane, rank, deadline, ++arrivals_};
    state.entries.emplace(place, Entry{std::move(work), now});
    return place;
  }

  // Something waits in a lane that may run more.
  bool ready() const { return next_lane() != nullptr; }

  // The first piece of work that may run; it counts as running until finish.
  std::optional<Popped> pop(Instant now) {
    const LaneState* next = next_lane();
    if (!next) return std::nullopt;
    const Lane lane = next->entries.begin()->first.lane;
    LaneState& state = of(lane);
    auto entry = state.entries.extract(state.entries.begin());
    ++state.running;
    return Popped{std::move(entry.mapped().work), lane, entry.mapped().pushed_at, entry.key().deadline <= now};
  }

  // What was popped from this lane is done.
  void finish(Lane lane) { --of(lane).running; }

  // The work at a place, if it is still there: who takes it out answers for it.
  std::optional<Work> remove(const Place& place) {
    auto& entries = of(place.lane).entries;
    const auto found = entries.find(place);
    if (found == entries.end()) return std::nullopt;
    Work work = std::move(found->second.work);
    entries.erase(found);
    return work;
  }

  std::size_t waiting(Lane lane) const { return of(lane).entries.size(); }
  std::size_t running(Lane lane) const { return of(lane).running; }

 private:
  struct Entry {
    Work work;
    Instant pushed_at;
  };
  struct LaneState {
    LaneLimits limits;
    std::size_t running = 0;
    std::map<Place, Entry> entries;
    bool ready() const { return !entries.empty() && running < limits.running; }
  };

  LaneState& of(Lane lane) { return lanes_[static_cast<std::size_t>(lane)]; }
  const LaneState& of(Lane lane) const { return lanes_[static_cast<std::size_t>(lane)]; }

  const LaneState* next_lane() const {
    const LaneState *hits = &of(Lane::hits), *side = &of(Lane::side);
    if (!side->ready()) return hits->ready() ? hits : nullptr;
    if (!hits->ready()) return side;
    return side->entries.begin()->first < hits->entries.begin()->first ? side : hits;
  }

  std::array<LaneState, 2> lanes_;
  std::uint64_t arrivals_ = 0;
};

}  // namespace hedgerow::leaf
