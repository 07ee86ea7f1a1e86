// The latency of a leaf in the paper's hedging example, as closed form: body uniform from 3 to 10 ms (98 %), then Pareto
// pieces through Pr(>10 ms) = 2 %, Pr(>70 ms) = 0.32 %, Pr(>1800 ms) = 1e-5, capped at 4 s. And, by hand from the
// formulae alone, what hedging can make of it: the reference for the planner and for what is simulated.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace hedgerow::reference {

struct ParetoPiece {
  double from, share_from, to, share_to;
  double exponent() const { return std::log(share_from / share_to) / std::log(to / from); }
  double after(double milliseconds) const { return share_from * std::pow(milliseconds / from, -exponent()); }
  double at(double share) const { return from * std::pow(share / share_from, -1 / exponent()); }
};

inline constexpr ParetoPiece late{10, 0.02, 70, 0.0032}, very_late{70, 0.0032, 1800, 1e-5};

// Pr(X > t).
inline double after(double milliseconds) {
  if (milliseconds < 3) return 1;
  if (milliseconds < 10) return 1 - 0.98 * (milliseconds - 3) / 7;
  if (milliseconds < 70) return late.after(milliseconds);
  return milliseconds < 4000 ? very_late.after(milliseconds) : 0;
}

// The time after which this share is left: with a uniform share, a sample.
inline double sample(double share) {
  if (share > 0.02) return 3 + 7 * (1 - share) / 0.98;
  if (share > 0.0032) return late.at(share);
  return std::min(4000.0, very_late.at(share));
}

// Hedged after these delays, each time with this probability of being hedged at all.
inline double hedged_after(double milliseconds, const std::vector<double>& delays, double probability = 1) {
  double all_late = 1;
  for (const double delay : delays) all_late *= after(milliseconds - delay);
  return after(milliseconds) * (1 - probability + probability * all_late);
}

inline double extra(const std::vector<double>& delays, double probability = 1) {
  double sum = 0;
  for (std::size_t i = 0; i < delays.size(); ++i) {
    double share = after(delays[i]);
    for (std::size_t j = 0; j < i; ++j) share *= after(delays[i] - delays[j]);
    sum += share;
  }
  return probability * sum;
}

// The time after which no more than this share is left, by bisection.
inline double target(double late_share, const std::vector<double>& delays, double probability = 1) {
  double too_soon = 0, enough = 4000;
  for (int i = 0; i < 60; ++i) {
    const double middle = (too_soon + enough) / 2;
    (hedged_after(middle, delays, probability) <= late_share ? enough : too_soon) = middle;
  }
  return enough;
}

// The best that two hedges can do within a budget: for every first delay on a fine grid the earliest second one that can
// be afforded.
struct BestOfTwo {
  double target = 4000;
  std::vector<double> delays;
};
inline BestOfTwo best_of_two(double late_share, double budget) {
  BestOfTwo best;
  for (double first = 9; first < 30; first += 0.01) {
    if (after(first) > budget) continue;
    double too_soon = first, enough = 4000;
    for (int i = 0; i < 60; ++i) {
      const double middle = (too_soon + enough) / 2;
      (extra({first, middle}) <= budget ? enough : too_soon) = middle;
    }
    const double reached = target(late_share, {first, enough});
    if (reached < best.target) best = {reached, {first, enough}};
  }
  return best;
}

// A query asks a hundred partitions, and its p99.9 is what counts.
inline const double late_share = 1 - std::pow(0.999, 0.01);

}  // namespace hedgerow::reference
