// The short queue in front of a leaf's workers. Pure: no threads, no clock, no Asio (the simulator runs it too).
//
// 1. Classes: interactive work and batch work have rooms of their own, so that batch cannot fill the interactive's; in
//    each, work for the hits and side work have lanes of their own, so that side work cannot fill the hits'. A lane
//    beyond its bound refuses at once, and the root turns to a replica.
// 2. Crews: batch has workers of its own, which the host gives less of the processor (see worker_pool), so that interactive
//    work never waits for batch to end. Batch gives way as well: while interactive work waits or runs, it begins a piece
//    only every so often. Where it has no workers, the interactive's workers do both: interactive first, and
//    every so-many-th piece is batch's while batch waits, so that it never starves.
// 3. Order within a class: by kind (see work_kind), then by turn, then first come first served. A turn is the deadline,
//    and that much later as the call yields (see `yield`): a call of many parts lets calls of few go first.
// 4. Each lane has a most that may run at once; what is beyond it waits, and is overtaken by the other lane. So side
//    work, however long it takes, leaves a worker to the hits.
// 5. Work whose time has run out comes out flagged, to be answered and not executed.
#pragma once

#include <algorithm>
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

struct ClassLimits {
  LaneLimits hits;
  LaneLimits side;
};

struct QueueLimits {
  ClassLimits interactive;
  ClassLimits batch;
  // False: batch has no workers of its own, and what runs of it counts towards the interactive's limits.
  bool batch_has_workers = true;
  // Then, while interactive work waits or runs, this lies between the beginnings of two pieces of batch work: two that
  // compute at once slow each other down, on whatever cores they are. 0: batch begins whenever it can.
  Duration batch_gives_way{};
  // Then every so-many-th piece is batch's while batch waits.
  std::uint32_t batch_turn = 20;
};

// How much later than by its deadline the parts of a call have their turn.
//
// By deadline alone, a call of 64 partitions would make every call behind it wait for all of them, since what comes later
// ends later too. So a call yields, for each part beyond the first, four times what a part takes: calls of few parts
// overtake it for as long as it runs, if they leave it a quarter of a worker. Calls of equal size keep the order of their
// deadlines, and none is overtaken for ever, as its turn stands still while the others' deadlines move on. Never more than
// half of the time that is left, so that yielding alone does not make it late.
constexpr Duration yield(std::size_t parts, Duration service_time, Duration remaining) {
  if (parts <= 1 || service_time <= Duration::zero() || remaining <= Duration::zero()) return Duration::zero();
  const Duration most = remaining / 2;
  const auto most_others = static_cast<std::size_t>(most / 4 / service_time);
  return parts - 1 > most_others ? most : static_cast<Duration::rep>(parts - 1) * service_time * 4;
}

template <class Work>
class WorkQueue {
 public:
  // What decides a piece of work's place.
  struct Claim {
    WorkKind kind = WorkKind::search;
    ServiceClass service_class = ServiceClass::interactive;
    Instant deadline;
    Duration yields{};
  };
  struct Place {
    WorkKind kind;
    ServiceClass service_class;
    Instant turn;
    std::uint64_t arrival;
    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.kind, a.turn, a.arrival) < std::tie(b.kind, b.turn, b.arrival);
    }
  };
  struct Popped {
    Work work;
    WorkKind kind;
    ServiceClass service_class;
    Instant deadline;
    Instant pushed_at;
    bool expired;  // its deadline is not after now
  };

  explicit WorkQueue(const QueueLimits& limits) : limits_(limits) {}

  // nullopt: its lane is full.
  std::optional<Place> push(Work work, const Claim& claim, Instant now) {
    auto& lane = lane_for(claim.service_class, lane_of(claim.kind));
    if (lane.size() >= limits_of(claim.service_class, lane_of(claim.kind)).waiting) return std::nullopt;
    const Place place{claim.kind, claim.service_class, claim.deadline + claim.yields, ++arrivals_};
    lane.emplace(place, Entry{std::move(work), claim.deadline, now});
    return place;
  }

  // There is something that a worker of this crew may begin, or may soon where it gives way.
  bool ready(ServiceClass crew) const { return next_for(crew) != nullptr; }
  // From when on, unless something else happens before; nullopt: from nothing but that.
  std::optional<Instant> ready_at(ServiceClass crew, Instant now) const {
    if (!ready(crew)) return std::nullopt;
    const bool in_the_way = crew == ServiceClass::batch && limits_.batch_has_workers && interactive_busy();
    return in_the_way ? std::max(now, batch_began_ + limits_.batch_gives_way) : now;
  }
  // Interactive work waits or runs.
  bool interactive_busy() const { return running(ServiceClass::interactive) + waiting(ServiceClass::interactive) > 0; }

  // The first piece of work that a worker of this crew may begin; it counts as running until finish.
  std::optional<Popped> pop(ServiceClass crew, Instant now) {
    if (ready_at(crew, now).value_or(Instant::max()) > now) return std::nullopt;
    Entries* entries = next_for(crew);
    auto entry = entries->extract(entries->begin());
    const Place& place = entry.key();
    const auto running_crew = crew_of(place.service_class);
    ++running_for(running_crew, lane_of(place.kind));
    ++running_of_class_[index(place.service_class)];
    if (place.service_class == ServiceClass::batch) {
      since_batch_ = 0;
      batch_began_ = now;
    } else if (!limits_.batch_has_workers && waiting(ServiceClass::batch) > 0) {
      ++since_batch_;
    }
    const Instant deadline = entry.mapped().deadline;
    return Popped{std::move(entry.mapped().work), place.kind, place.service_class, deadline, entry.mapped().pushed_at,
                  deadline <= now};
  }

  // What was popped is done.
  void finish(WorkKind kind, ServiceClass service_class) {
    --running_for(crew_of(service_class), lane_of(kind));
    --running_of_class_[index(service_class)];
  }

  // The work at a place, if it is still there: who takes it out answers for it.
  std::optional<Work> remove(const Place& place) {
    auto& entries = lane_for(place.service_class, lane_of(place.kind));
    const auto found = entries.find(place);
    if (found == entries.end()) return std::nullopt;
    Work work = std::move(found->second.work);
    entries.erase(found);
    return work;
  }

  std::size_t waiting(ServiceClass service_class, Lane lane) const { return lane_for(service_class, lane).size(); }
  std::size_t waiting(ServiceClass service_class) const {
    return waiting(service_class, Lane::hits) + waiting(service_class, Lane::side);
  }
  // What the crew that does this class's work is doing.
  std::size_t running(ServiceClass service_class, Lane lane) const {
    return running_[index(crew_of(service_class))][index(lane)];
  }
  // Of this class alone.
  std::size_t running(ServiceClass service_class) const { return running_of_class_[index(service_class)]; }

 private:
  struct Entry {
    Work work;
    Instant deadline;
    Instant pushed_at;
  };
  using Entries = std::map<Place, Entry>;
  using ByLane = std::array<std::size_t, 2>;

  template <class Enum>
  static constexpr std::size_t index(Enum value) {
    return static_cast<std::size_t>(value);
  }
  ServiceClass crew_of(ServiceClass service_class) const {
    return limits_.batch_has_workers ? service_class : ServiceClass::interactive;
  }
  const LaneLimits& limits_of(ServiceClass service_class, Lane lane) const {
    const ClassLimits& limits = service_class == ServiceClass::batch ? limits_.batch : limits_.interactive;
    return lane == Lane::hits ? limits.hits : limits.side;
  }
  Entries& lane_for(ServiceClass service_class, Lane lane) { return lanes_[index(service_class)][index(lane)]; }
  const Entries& lane_for(ServiceClass service_class, Lane lane) const { return lanes_[index(service_class)][index(lane)]; }
  std::size_t& running_for(ServiceClass crew, Lane lane) { return running_[index(crew)][index(lane)]; }

  // Of a class, the lane whose first piece is the crew's next; null where nothing may begin.
  const Entries* first_of(ServiceClass service_class) const {
    const ServiceClass crew = crew_of(service_class);
    const auto ready_lane = [&](Lane lane) -> const Entries* {
      const auto& entries = lane_for(service_class, lane);
      const bool may_run = running_[index(crew)][index(lane)] < limits_of(crew, lane).running;
      return may_run && !entries.empty() ? &entries : nullptr;
    };
    const Entries *hits = ready_lane(Lane::hits), *side = ready_lane(Lane::side);
    if (!hits || !side) return hits ? hits : side;
    return side->begin()->first < hits->begin()->first ? side : hits;
  }
  const Entries* next_for(ServiceClass crew) const {
    if (limits_.batch_has_workers) return first_of(crew);
    if (crew == ServiceClass::batch) return nullptr;
    const Entries *interactive = first_of(ServiceClass::interactive), *batch = first_of(ServiceClass::batch);
    if (!interactive || !batch) return interactive ? interactive : batch;
    return since_batch_ + 1 >= limits_.batch_turn ? batch : interactive;
  }
  Entries* next_for(ServiceClass crew) { return const_cast<Entries*>(std::as_const(*this).next_for(crew)); }

  QueueLimits limits_;
  std::array<std::array<Entries, 2>, 2> lanes_;  // by class and lane
  std::array<ByLane, 2> running_{};              // by crew and lane
  std::array<std::size_t, 2> running_of_class_{};
  Instant batch_began_{};          // the latest piece of it
  std::uint32_t since_batch_ = 0;  // pieces of interactive work since batch last had its turn
  std::uint64_t arrivals_ = 0;
};

}  // namespace hedgerow::leaf
