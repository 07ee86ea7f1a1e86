// Of so many trials so many came out: what that says of the chance, and the other way round. Pure.
//
// After Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial" (1934), by
// way of the incomplete beta function.
#pragma once

#include <cstddef>

namespace hedgerow::lab {

struct BinomialLimits {
  double least = 0, most = 1;
};

// Between which the chance lies, but for this error on either side. Neither needs to be whole: effective numbers of trials
// are not. Preconditions: 0 <= successes <= trials, trials > 0, 0 < error < 0.5.
BinomialLimits binomial_limits(double successes, double trials, double error);
// One of the two: half the work.
double least_chance(double successes, double trials, double error);
double most_chance(double successes, double trials, double error);

// The k-th soonest of n: each of the n has come with which chance when at least k of them have with the chance
// `certainty`? That share of attempts must be in time so that this share of queries has k of its n partitions.
// Preconditions: 1 <= k <= n, 0 < certainty < 1. For k = n it is certainty^(1/n).
double chance_for_order_statistic(double certainty, std::size_t k, std::size_t n);

// With so few trials that all came out well, the chance of a failure may still be `share`: how many are needed before that
// is excluded, but for this error: ln(error) / ln(1 - share).
double trials_to_exclude(double share, double error);

}  // namespace hedgerow::lab
