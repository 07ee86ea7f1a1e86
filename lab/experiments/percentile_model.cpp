#include "lab/experiments/percentile_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "lab/experiments/nelder_mead.hpp"

namespace hedgerow::lab {

namespace {

using Kind = PercentileModel::Kind;

// The shared part is summed over so many steps of its normal variable, from -5 to 5.
constexpr int steps = 100;
constexpr double widest = 5;
constexpr int order_steps = 400;
constexpr double makes_no_sense = 1e6;

double normal_up_to(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

template <class UpTo>
double smallest_ms(UpTo&& up_to, double share) {
  double low = 1e-4, high = 1e7;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    (up_to(middle) < share ? low : high) = middle;
  }
  return high;
}

double normal_quantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (normal_up_to(middle) < share ? low : high) = middle;
  }
  return high;
}

// Pr(at least k of n answered), each with this probability.
double at_least(double k, double n, double probability) {
  if (probability <= 0) return 0;
  if (probability >= 1) return 1;
  double sum = 0;
  for (double i = k; i <= n; ++i) {
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(probability) +
                    (n - i) * std::log1p(-probability));
  }
  return std::min(sum, 1.0);
}

struct Step {
  double z, weight;
};

const std::vector<Step>& normal_steps() {
  static const std::vector<Step> all = [] {
    std::vector<Step> out;
    double sum = 0;
    for (int i = 0; i <= steps; ++i) {
      const double z = -widest + 2 * widest * i / steps;
      out.push_back({z, std::exp(-z * z / 2)});
      sum += out.back().weight;
    }
    for (Step& step : out) step.weight /= sum;
    return out;
  }();
  return all;
}

// Pr(a leaf of the query answers within t), given the shared part.
double leaf_up_to(const PercentileModel& model, double ms, double z) {
  const double shared = model.shared_median * std::exp(model.shared_sigma * z);
  const double own = model.kind == Kind::shared_time ? ms - shared : ms / shared;
  return own <= 0 ? 0 : normal_up_to(std::log(own / model.leaf_median_ms) / model.leaf_sigma);
}

// The k-th of the query's leaves has taken this long of its own time, at so many evenly spaced quantiles. (Its share of all
// leaves that are as quick is the k-th of n even numbers.)
std::vector<double> own_times(const PercentileModel& model, double k) {
  std::vector<double> times;
  for (int i = 0; i < order_steps; ++i) {
    const double share = (i + 0.5) / order_steps;
    double low = 0, high = 1;
    for (int halving = 0; halving < 40; ++halving) {
      const double middle = (low + high) / 2;
      (at_least(k, model.leaves, middle) < share ? low : high) = middle;
    }
    times.push_back(model.leaf_median_ms * std::exp(model.leaf_sigma * normal_quantile(high)));
  }
  return times;
}

// Pr(own time and the shared part together are within ms), over these own times. The sum is over the own times and not over the
// shared part, since of many leaves the k-th is nearly always as quick: summed over steps of the shared part its distribution
// would have steps too.
double together_up_to(const PercentileModel& model, const std::vector<double>& own_times, double ms) {
  double sum = 0;
  for (const double own : own_times) {
    const double shared = model.kind == Kind::shared_time ? ms - own : ms / own;
    if (shared > 0) sum += normal_up_to(std::log(shared / model.shared_median) / model.shared_sigma);
  }
  return sum / static_cast<double>(own_times.size());
}

// rough: the second row as for infinitely many leaves, which is within a percent for a thousand, and quick.
PercentileTable table_of(const PercentileModel& model, bool rough) {
  PercentileTable table;
  const auto most_leaves = rough ? std::vector<double>{} : own_times(model, std::ceil(share_of_leaves * model.leaves));
  const double own_95 = model.leaf_median_ms * std::exp(model.leaf_sigma * normal_quantile(share_of_leaves));
  const auto over_shared = [&](auto&& given) {
    double sum = 0;
    for (const Step& step : normal_steps()) sum += step.weight * given(step.z);
    return sum;
  };
  for (std::size_t i = 0; i < percentile_shares.size(); ++i) {
    const double share = percentile_shares[i], z = normal_quantile(share);
    if (model.kind == Kind::shared_time) {
      table[0][i] = model.leaf_median_ms * std::exp(model.leaf_sigma * z);
    } else {
      table[0][i] = model.leaf_median_ms * model.shared_median * std::exp(std::hypot(model.leaf_sigma, model.shared_sigma) * z);
    }
    const double shared = model.shared_median * std::exp(model.shared_sigma * z);
    table[1][i] = model.kind == Kind::shared_time ? own_95 + shared : own_95 * shared;
    if (!rough) table[1][i] = smallest_ms([&](double ms) { return together_up_to(model, most_leaves, ms); }, share);
    table[2][i] = smallest_ms(
        [&](double ms) { return over_shared([&](double at) { return std::pow(leaf_up_to(model, ms, at), model.leaves); }); },
        share);
  }
  return table;
}

double squares(const PercentileTable& table, const PercentileTable& printed) {
  double sum = 0;
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (std::size_t i = 0; i < table[row].size(); ++i) {
      const double error = std::log(table[row][i] / printed[row][i]);
      sum += error * error;
    }
  }
  return sum;
}

Distribution log_normal(double median_ms, double sigma) {
  return *Distribution::parse("lognormal:" + format_duration(from_milliseconds(median_ms)) + "," + std::to_string(sigma));
}

}  // namespace

Distribution PercentileModel::leaf() const { return log_normal(leaf_median_ms, leaf_sigma); }
Distribution PercentileModel::shared() const { return log_normal(shared_median, shared_sigma); }

PercentileTable closed_form(const PercentileModel& model) { return table_of(model, false); }

PercentileFit fit_percentiles(Kind kind, const PercentileTable& printed) {
  // log of the leaf's median, its sigma, log of the shared median, its sigma, log of the leaves.
  const auto model_of = [&](const std::vector<double>& at) {
    PercentileModel model;
    model.kind = kind;
    model.leaf_median_ms = std::exp(at[0]);
    model.leaf_sigma = at[1];
    model.shared_median = kind == Kind::shared_time ? std::exp(at[2]) : 1;
    model.shared_sigma = at[3];
    model.leaves = std::exp(at[4]);
    return model;
  };
  const auto error = [&](const std::vector<double>& at) {
    const bool sane = at[1] > 0.05 && at[1] < 4 && at[3] > 0.05 && at[3] < 4 && at[4] > 1 && at[4] < 13;
    return sane ? squares(table_of(model_of(at), true), printed) : makes_no_sense;
  };
  const double median = std::log(printed[0][0]);
  const double shared = kind == Kind::shared_time ? std::log(printed[1][0] / 2) : 0;
  const Minimum least = nelder_mead(error, {median, 1, shared, 0.8, 7}, {0.2, 0.1, 0.3, 0.1, 1}, 250);
  PercentileFit fit;
  fit.model = model_of(least.at);
  fit.model.leaves = std::round(fit.model.leaves);
  fit.table = closed_form(fit.model);
  fit.root_mean_square = std::sqrt(squares(fit.table, printed) / 9);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t i = 0; i < 3; ++i) fit.worst = std::max(fit.worst, std::abs(fit.table[row][i] / printed[row][i] - 1));
  }
  return fit;
}

}  // namespace hedgerow::lab
