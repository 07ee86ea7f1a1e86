// Instants and durations. There is no now() here: time is an argument, and only the two hosts (the servers' event
// loops and the simulator) read a clock.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hedgerow {

using Duration = std::chrono::nanoseconds;
// A point on a monotonic clock; in the simulator, on virtual time.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;

// Reads "250ms", "1.5s", "10us", "2m", "300ns", "1h": a number of at least 0 and a unit, nothing else.
// Errors: invalid_argument for anything else, or beyond 24 hours.
result<Duration> parse_duration(std::string_view text);

// The shortest exact form that parse_duration reads back: "250ms", "1500us".
std::string format_duration(Duration duration);

// For every border where a unit is part of the name: took_ms, …_seconds.
constexpr double to_milliseconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }
constexpr double to_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e9; }
constexpr Duration from_milliseconds(double milliseconds) {
  return Duration{static_cast<Duration::rep>(milliseconds * 1e6)};
}

}  // namespace hedgerow
