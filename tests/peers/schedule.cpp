#include "tests/peers/schedule.hpp"

#include "lab/arrivals.hpp"

namespace hedgerow::peers {

Schedule::Schedule(double rate, Duration warm_up, Duration settling, Duration measured, std::uint64_t seed)
    : warm_up_end_(warm_up), settling_end_(warm_up + settling), end_(warm_up + settling + measured) {
  lab::Arrivals arrivals(lab::ArrivalShape::poisson, rate, end_, seed);
  while (const auto instant = arrivals.next()) instants_.push_back(*instant);
}

Part Schedule::part_of(std::size_t query) const {
  if (instants_[query] < warm_up_end_) return Part::warm_up;
  return instants_[query] < settling_end_ ? Part::settling : Part::measured;
}

}  // namespace hedgerow::peers
