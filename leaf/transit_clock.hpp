// How long a message was on its way, beyond the usual. Pure.
//
// A stopped process's kernel goes on accepting frames; when the process goes on it reads messages whose time is long
// over. The clocks of two machines do not agree, but the difference (receive - send) on one link is a constant plus the
// time on the way: what exceeds the smallest difference seen is delay, and is charged to the deadline. The smallest is
// kept over two windows in turn, so that clocks that drift apart do not look like delay.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"

namespace hedgerow::leaf {

class TransitClock {
 public:
  explicit TransitClock(Duration window = std::chrono::seconds(30)) : window_(window) {}

  // sent_at is the sender's clock, received_at ours. Returns the delay beyond the smallest one: at least 0.
  Duration excess(std::int64_t sent_at_ns, Instant received_at);

 private:
  Duration window_;
  std::optional<Instant> window_start_;
  std::optional<std::int64_t> smallest_, smallest_before_;
};

}  // namespace hedgerow::leaf
