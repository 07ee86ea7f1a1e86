// Limits of a chance, against published ones and against their definition, summed up term by term.
#include "lab/advise/binomial.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

namespace hedgerow::lab {

namespace {

// Pr(at least k of n).
double at_least(int k, int n, double chance) {
  double sum = 0;
  for (int i = k; i <= n; ++i) {
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(chance) + (n - i) * std::log1p(-chance));
  }
  return sum;
}

}  // namespace

TEST_CASE("limits of a chance are those of Clopper and Pearson") {
  struct Row {
    double successes, trials, least, most;
  };
  for (const Row& row : {Row{5, 10, 0.187086, 0.812914}, Row{10, 100, 0.049005, 0.176223}, Row{10, 1000, 0.0048055, 0.0183132},
                         Row{1, 1000, 2.53175e-5, 0.00555892}, Row{0, 100, 0, 0.0362167}, Row{100, 100, 0.9637833, 1}}) {
    CAPTURE(row.successes);
    CAPTURE(row.trials);
    const BinomialLimits limits = binomial_limits(row.successes, row.trials, 0.025);
    CHECK(limits.least == doctest::Approx(row.least).epsilon(1e-4));
    CHECK(limits.most == doctest::Approx(row.most).epsilon(1e-4));
  }
}

TEST_CASE("at a limit, what was seen or more has just the chance of an error") {
  for (const int trials : {20, 300, 4000}) {
    for (const int successes : {1, trials / 7, trials / 2, trials - 1}) {
      CAPTURE(trials);
      CAPTURE(successes);
      const BinomialLimits limits = binomial_limits(successes, trials, 0.01);
      CHECK(at_least(successes, trials, limits.least) == doctest::Approx(0.01).epsilon(1e-3));
      CHECK(1 - at_least(successes + 1, trials, limits.most) == doctest::Approx(0.01).epsilon(1e-3));
    }
  }
}

TEST_CASE("the soonest k of n: by hand for few, by the definition for many") {
  CHECK(chance_for_order_statistic(0.75, 1, 2) == doctest::Approx(0.5));   // 1 - (1 - F)^2
  CHECK(chance_for_order_statistic(0.5, 2, 3) == doctest::Approx(0.5));    // 3 F^2 - 2 F^3
  CHECK(chance_for_order_statistic(0.999, 100, 100) == doctest::Approx(std::pow(0.999, 0.01)));
  for (const int needed : {50, 90, 95, 99}) {
    CAPTURE(needed);
    const double chance = chance_for_order_statistic(0.999, static_cast<std::size_t>(needed), 100);
    CHECK(at_least(needed, 100, chance) == doctest::Approx(0.999).epsilon(1e-6));
  }
}

TEST_CASE("how many trials exclude a chance") {
  CHECK(trials_to_exclude(0.001, 0.025) == 3688);  // 0.999^n < 0.025
  CHECK(trials_to_exclude(0.01, 0.025) == 368);
  CHECK(binomial_limits(0, 3688, 0.025).most <= 0.001);
  CHECK(binomial_limits(0, 3687, 0.025).most > 0.001);
}

}  // namespace hedgerow::lab
