#include "lab/sweep/summary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hedgerow::lab::sweep {

namespace {

struct Candidate {
  std::size_t point;
  double cost, gain;  // less is better of both
};

double as_cost(const Measure& measure, double value) { return measure.better == Measure::Better::less ? value : -value; }

}  // namespace

std::vector<double> samples_of(const SweepResults& results, std::size_t point, const Measure& measure) {
  std::vector<double> samples;
  for (const Run& run : results.runs) {
    if (run.point != point) continue;
    if (const auto value = measure.of(run.figures)) samples.push_back(*value);
  }
  return samples;
}

std::optional<Spread> spread_of(const SweepResults& results, std::size_t point, const Measure& measure) {
  const auto samples = samples_of(results, point, measure);
  if (samples.empty()) return std::nullopt;
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  Spread spread{.repetitions = samples.size(), .mean = 0, .least = *least, .most = *most};
  // A time of 0 has no logarithm; nothing measured is that quick.
  const bool geometric = measure.kind == Measure::Kind::time && *least > 0;
  for (const double sample : samples) spread.mean += geometric ? std::log(sample) : sample;
  spread.mean /= static_cast<double>(samples.size());
  if (geometric) spread.mean = std::exp(spread.mean);
  return spread;
}

std::vector<std::size_t> frontier(const SweepResults& results, const std::vector<std::size_t>& points, const Measure& cost, const Measure& gain) {
  std::vector<Candidate> candidates;
  for (const std::size_t point : points) {
    const auto a = spread_of(results, point, cost), b = spread_of(results, point, gain);
    if (a && b) candidates.push_back({point, as_cost(cost, a->mean), as_cost(gain, b->mean)});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.cost != b.cost ? a.cost < b.cost : a.gain != b.gain ? a.gain < b.gain : a.point < b.point;
  });
  std::vector<std::size_t> best;
  double best_gain = std::numeric_limits<double>::infinity();
  const Candidate* last = nullptr;
  for (const Candidate& candidate : candidates) {
    // One that is exactly as good as the last is not beaten by it.
    const bool same = last && candidate.cost == last->cost && candidate.gain == last->gain;
    if (!same && candidate.gain >= best_gain) continue;
    best.push_back(candidate.point);
    best_gain = candidate.gain;
    last = &candidate;
  }
  return best;
}

}  // namespace hedgerow::lab::sweep
