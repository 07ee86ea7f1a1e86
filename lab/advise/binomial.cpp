#include "lab/advise/binomial.hpp"

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

// Less than a hundredth of a trial is the rest of a rounding.
constexpr double rest_of_rounding = 0.01;

double inverse_beta(double a, double b, double share) { return boost::math::ibeta_inv(a, b, share, Quiet()); }

}  // namespace

double least_chance(double successes, double trials, double error) {
  assert(trials > 0 && error > 0 && error < 0.5);
  if (successes < rest_of_rounding) return 0;
  if (trials - successes < rest_of_rounding) return std::pow(error, 1 / trials);
  return inverse_beta(successes, trials - successes + 1, error);
}

double most_chance(double successes, double trials, double error) {
  assert(trials > 0 && error > 0 && error < 0.5);
  if (trials - successes < rest_of_rounding) return 1;
  if (successes < rest_of_rounding) return -std::expm1(std::log(error) / trials);
  return inverse_beta(successes + 1, trials - successes, 1 - error);
}

BinomialLimits binomial_limits(double successes, double trials, double error) {
  return {least_chance(successes, trials, error), most_chance(successes, trials, error)};
}

double chance_for_order_statistic(double certainty, std::size_t k, std::size_t n) {
  assert(k >= 1 && k <= n);
  if (k == n) return std::pow(certainty, 1 / static_cast<double>(n));
  // Pr(at least k of n) = I_F(k, n - k + 1).
  return inverse_beta(static_cast<double>(k), static_cast<double>(n - k + 1), certainty);
}

double trials_to_exclude(double share, double error) { return std::ceil(std::log(error) / std::log1p(-share)); }

}  // namespace hedgerow::lab
