// The repetitions of each point as one figure with its spread, and which points are worth having. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/sweep/results.hpp"

namespace hedgerow::lab::sweep {

// Of one measure at one point.
struct Spread {
  std::size_t repetitions = 0;  // that measured it
  double mean = 0;              // of times the geometric one
  double least = 0, most = 0;   // of the repetitions
};

// nullopt: no repetition measured it.
std::optional<Spread> spread_of(const SweepResults& results, std::size_t point, const Measure& measure);
// The repetitions' figures, in no order.
std::vector<double> samples_of(const SweepResults& results, std::size_t point, const Measure& measure);

// The points that no other one beats: none is at least as good in both measures and better in one. Points of the list alone;
// in rising order of the first measure. Those where a measure is missing are no candidates.
std::vector<std::size_t> frontier(const SweepResults& results, const std::vector<std::size_t>& points, const Measure& cost, const Measure& gain);

}  // namespace hedgerow::lab::sweep
