// When the queries of an open loop are meant to be sent, and to which part of the load each belongs. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"

namespace hedgerow::peers {

enum class Part { warm_up, settling, measured };

class Schedule {
 public:
  // A Poisson process of that rate a second, over the three parts one after another. The same seed gives the same instants.
  Schedule(double rate, Duration warm_up, Duration settling, Duration measured, std::uint64_t seed);

  std::size_t size() const { return instants_.size(); }
  // Counted from the begin of the load; never falling.
  Duration at(std::size_t query) const { return instants_[query]; }
  Part part_of(std::size_t query) const;
  // The end of the last part.
  Duration end() const { return end_; }

 private:
  Duration warm_up_end_, settling_end_, end_;
  std::vector<Duration> instants_;
};

}  // namespace hedgerow::peers
