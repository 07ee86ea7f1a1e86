// What a leaf says of an attempt and of itself, with every answer.
#pragma once

#include <algorithm>
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

// As far as it can be true of an attempt that has been under way for so long: leaves may say anything.
inline AttemptReport believable(AttemptReport told, Duration under_way) {
  const Duration most = std::max(under_way, Duration::zero());
  told.queue_time = std::clamp(told.queue_time, Duration::zero(), most);
  told.service_time = std::clamp(told.service_time, Duration::zero(), most);
  return told;
}

}  // namespace hedgerow::policy
