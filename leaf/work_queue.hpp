// The short queue in front of a leaf's workers. Pure: no threads, no clock, no Asio (the simulator runs it too).
//
// Bound: the capacity; beyond it push refuses at once, so that the root can turn to a replica. Order: interactive
// before batch, within a class the earliest deadline first, within a deadline first come first served. Work whose time
// has run out comes out flagged, to be answered and not executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/clock.hpp"

namespace hedgerow::leaf {

template <class Work>
class WorkQueue {
 public:
  // A piece of work's place in the queue.
  struct Place {
    int service_class;  // 0 before 1
    Instant deadline;
    std::uint64_t arrival;
    friend bool operator<(const Place& a, const Place& b) {
      return std::tie(a.service_class, a.deadline, a.arrival) < std::tie(b.service_class, b.deadline, b.arrival);
    }
  };
  struct Popped {
    Work work;
    Instant pushed_at;
    bool expired;  // its deadline is not after now
  };

  explicit WorkQueue(std::size_t capacity) : capacity_(capacity) {}

  // nullopt: full.
  std::optional<Place> push(Work work, int service_class, Instant deadline, Instant now) {
    if (entries_.size() >= capacity_) return std::nullopt;
    const Place place{service_class, deadline, ++arrivals_};
    entries_.emplace(place, Entry{std::move(work), now});
    return place;
  }

  std::optional<Popped> pop(Instant now) {
    if (entries_.empty()) return std::nullopt;
    auto entry = entries_.extract(entries_.begin());
    return Popped{std::move(entry.mapped().work), entry.mapped().pushed_at, entry.key().deadline <= now};
  }

  // The work at a place, if it is still there: who takes it out answers for it.
  std::optional<Work> remove(const Place& place) {
    const auto found = entries_.find(place);
    if (found == entries_.end()) return std::nullopt;
    Work work = std::move(found->second.work);
    entries_.erase(found);
    return work;
  }

  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    Work work;
    Instant pushed_at;
  };
  std::size_t capacity_;
  std::uint64_t arrivals_ = 0;
  std::map<Place, Entry> entries_;
};

}  // namespace hedgerow::leaf
