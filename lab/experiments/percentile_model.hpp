// The service behind `experiment leaf-percentiles`: how long leaves take that one query asks together, with parameters
// taken from the nine figures of the paper's Table 1. Pure.
//
// Two models, each of a part that all leaves of a query share and a part of each leaf's own, both log-normal:
//
//   shared time    a query's leaf takes S + X: X the leaf's own, S a time that the query loses as a whole, on its way through
//                  the tree of servers and on the network that its many answers crowd. "One random leaf" is a request that
//                  is sent alone, and takes X.
//   shared factor  a query's leaf takes Q X, and "one random leaf" is any leaf of such a query.
//
// No model of the second kind, whatever its distributions, fits the table: half of the queries have not got 95 % of their
// answers after 12 ms, so at least 0.5 * 5 % = 2.5 % of all leaf requests take longer than 12 ms; but the table says that
// only 1 % take longer than 10 ms. So the table's first row must be of other requests than its second one, which is what
// the first model says. Both are fitted, and both fits are shown.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "base/distribution.hpp"

namespace hedgerow::lab {

// One random leaf, 95 % of the leaves, all leaves; each at p50, p95, p99, in milliseconds.
using PercentileTable = std::array<std::array<double, 3>, 3>;
constexpr std::array<double, 3> percentile_shares{0.5, 0.95, 0.99};
constexpr PercentileTable paper_percentiles{{{1, 5, 10}, {12, 32, 70}, {40, 87, 140}}};
constexpr double share_of_leaves = 0.95;  // of the second row

struct PercentileModel {
  enum class Kind { shared_time, shared_factor } kind = Kind::shared_time;
  double leaf_median_ms = 1, leaf_sigma = 1;
  double shared_median = 1, shared_sigma = 1;  // milliseconds, or a factor (whose median is 1: the leaves' takes it in)
  double leaves = 1000;

  Distribution leaf() const;    // X
  Distribution shared() const;  // S; of shared_time
};

// By the model, for this many leaves: of the second row, the time at which ceil(0.95 n) leaves have answered.
PercentileTable closed_form(const PercentileModel& model);

struct PercentileFit {
  PercentileModel model;
  PercentileTable table{};      // by the closed form
  double root_mean_square = 0;  // of log(model / printed), over the nine
  double worst = 0;             // the largest |model / printed - 1|
};
PercentileFit fit_percentiles(PercentileModel::Kind kind, const PercentileTable& printed);

// The least share of all leaf requests of such queries that takes longer than the second row's median, whatever the model.
constexpr double least_share_beyond_median() { return 0.5 * (1 - share_of_leaves); }

}  // namespace hedgerow::lab
