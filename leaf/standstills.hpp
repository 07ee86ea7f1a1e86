// When the leaf as a whole was last held up by a fault (a pause, background work), so that an answer can say what it went
// through. Written on the I/O thread, read by any.
#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <string>

#include "base/clock.hpp"

namespace hedgerow::leaf {

enum class StandstillCause : std::uint8_t { pause, background };

class Standstills {
 public:
  void begin(StandstillCause cause) { until(cause).store(ongoing, std::memory_order_relaxed); }
  void end(StandstillCause cause, Instant now) { until(cause).store(now.time_since_epoch().count(), std::memory_order_relaxed); }

  // What held the leaf up at some time between `from` and now: "pause, background", or nothing. Since the latest end is
  // the only one that has to be known, one number for each cause is enough.
  std::string since(Instant from) const {
    std::string names;
    const auto add = [&](StandstillCause cause, const char* name) {
      if (until(cause).load(std::memory_order_relaxed) <= from.time_since_epoch().count()) return;
      if (!names.empty()) names += ", ";
      names += name;
    };
    add(StandstillCause::pause, "pause");
    add(StandstillCause::background, "background");
    return names;
  }

 private:
  using Ticks = Instant::rep;
  static constexpr Ticks ongoing = std::numeric_limits<Ticks>::max();
  static constexpr Ticks never = std::numeric_limits<Ticks>::min();

  std::atomic<Ticks>& until(StandstillCause cause) { return until_[static_cast<std::size_t>(cause)]; }
  const std::atomic<Ticks>& until(StandstillCause cause) const { return until_[static_cast<std::size_t>(cause)]; }

  std::array<std::atomic<Ticks>, 2> until_{never, never};
};

}  // namespace hedgerow::leaf
