// Two sweeps laid over each other: which differences are beyond noise. Pure.
//
// For each point that both have, and each measure, the repetitions of A and B are two samples. They are compared by Welch's t
// test (B. L. Welch 1947: means of two samples whose variances may differ, with the degrees of freedom of Welch and
// Satterthwaite), two-sided; times by their logarithms, so that a difference is a ratio. The sample variances get what a
// figure's resolution adds (a twelfth of its square), so that repetitions that happen to agree to the last digit do not
// make a difference of one digit certain. A sweep makes many comparisons: the p values are corrected by Holm's method (1979)
// over all of them, so that the chance that any one of the differences named is noise is at most 5 %.
//
// Within one sweep policies are compared with the first one of the plan. There every repetition has the same arrivals for all,
// so its pairs of figures are compared (Student's paired t test), with the same correction.
//
// That supposes that repetitions are independent and, roughly, normally distributed, and that only chance made A's
// repetitions differ among themselves. What changed between the two sweeps besides (the machine, its load) no test can
// tell from what was meant to change. Fewer than two repetitions on a side tell nothing, which is said.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/sweep/results.hpp"

namespace hedgerow::lab::sweep {

constexpr double significance = 0.05;

// The probability that two samples of one distribution would have means as far apart as these, or further. At least two
// values in each.
double welch_p(const std::vector<double>& a, const std::vector<double>& b, double resolution);
// The same of pairs, by their differences. At least two.
double paired_p(const std::vector<double>& differences, double resolution);
// The same p values, corrected for their number; in the same order.
std::vector<double> holm(const std::vector<double>& p);

struct Difference {
  SweepPoint point;  // of two policies, that of the second
  const Measure* measure = nullptr;
  std::size_t a_point = 0, b_point = 0;  // in the two results
  double a = 0, b = 0;                   // means, as in summary.hpp
  std::optional<double> p;               // corrected; none: too few repetitions
  bool beyond_noise() const { return p && *p < significance; }
  // B is better than A in this, by its mean.
  bool better() const { return measure->better == Measure::Better::less ? b < a : b > a; }
  // "12 % less", "1.5 points more", "the same".
  std::string change_text() const;
};

struct Comparison {
  std::vector<Difference> differences;  // by point, then measure
  std::vector<SweepPoint> only_a, only_b;
  // What the two were run with differently, by the plan's members: "load.rate: 50, 100". Points apart.
  std::vector<std::string> settings;
  std::size_t compared = 0, too_few = 0, beyond_noise = 0;
};

Comparison compare(const SweepResults& a, const SweepResults& b);
// A: the policy of the first point; B: each of the others, everything else being the same.
Comparison compare_policies(const SweepResults& results);

nlohmann::ordered_json to_json(const Comparison& comparison);
std::string to_text(const Comparison& comparison);

}  // namespace hedgerow::lab::sweep
