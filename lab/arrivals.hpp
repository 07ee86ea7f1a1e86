// When the queries of an open-loop load are to be sent: a schedule made ahead, that no answer can delay. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace hedgerow::lab {

enum class ArrivalShape {
  poisson,  // independent users: exponential gaps, bursts and all
  even,     // a metronome
};
std::optional<ArrivalShape> parse_arrival_shape(std::string_view word);
std::string_view to_string(ArrivalShape shape);

class Arrivals {
 public:
  // rate per second, > 0. The same seed gives the same schedule.
  Arrivals(ArrivalShape shape, double rate, Duration total, std::uint64_t seed);
  // The next instant, counted from the start; never falls, always below the total. nullopt: none is left.
  std::optional<Duration> next();

 private:
  ArrivalShape shape_;
  double rate_;
  Duration total_;
  Random random_;
  std::uint64_t count_ = 0;
  double seconds_ = 0;
};

}  // namespace hedgerow::lab
