#include "lab/advise/binomial.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cassert>
#include <cmath>

namespace hedgerow::lab {

namespace {

// Answers at the edges are numbers, not exceptions.
using Quiet = boost::math::policies::policy<
    boost::math::policies::domain_error<boost::math::policies::ignore_error>,
    boost::math::policies::pole_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::evaluation_error<boost::math::policies::ignore_error>,
    boost::math::policies::promote_double<false>>;

double inverse_beta(double a, double b, double share) { return boost::math::ibeta_inv(a, b, share, Quiet()); }

}  // namespace

BinomialLimits binomial_limits(double successes, double trials, double error) {
  assert(trials > 0 && error > 0 && error < 0.5);
  successes = std::clamp(successes, 0.0, trials);
  const double failures = trials - successes;
  // Less than a hundredth of a trial is the rest of a rounding.
  const bool none = successes < 0.01, all = failures < 0.01;
  return {none ? 0 : all ? std::pow(error, 1 / trials) : inverse_beta(successes, failures + 1, error),
          all ? 1 : none ? -std::expm1(std::log(error) / trials) : inverse_beta(successes + 1, failures, 1 - error)};
}

double chance_for_order_statistic(double certainty, std::size_t k, std::size_t n) {
  assert(k >= 1 && k <= n);
  if (k == n) return std::pow(certainty, 1 / static_cast<double>(n));
  // Pr(at least k of n) = I_F(k, n - k + 1).
  return inverse_beta(static_cast<double>(k), static_cast<double>(n - k + 1), certainty);
}

double trials_to_exclude(double share, double error) { return std::ceil(std::log(error) / std::log1p(-share)); }

}  // namespace hedgerow::lab
