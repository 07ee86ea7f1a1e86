// How one query of a simulation ended, for who wants to know more than the report's sums.
#pragma once

#include <cstddef>
#include <functional>

#include "base/clock.hpp"
#include "root/policy/query/fanout.hpp"

namespace hedgerow::lab::simulation {

struct QueryEnd {
  std::size_t shape = 0;  // its place among the world's
  bool measured = false;  // false: of the warm-up
  Instant arrived;
  Duration latency{};      // until it was answered, or refused
  bool abandoned = false;  // its client left
  // While the observer is told, and no longer; none: the query was refused.
  const policy::Fanout* search = nullptr;
};

using QueryObserver = std::function<void(const QueryEnd&)>;

}  // namespace hedgerow::lab::simulation
