// What a leaf says of an attempt and of itself, with every answer.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace hedgerow::policy {

struct AttemptReport {
  Duration queue_time{};    // waited on the leaf
  Duration service_time{};  // on a worker
  // The leaf's load as it answered: attempts waiting, and attempts on a worker.
  std::uint32_t queued = 0;
  std::uint32_t running = 0;
};

}  // namespace hedgerow::policy
