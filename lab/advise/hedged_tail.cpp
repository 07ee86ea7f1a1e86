#include "lab/advise/hedged_tail.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow::lab {

namespace {

// Shares that are equal but for it are equal: one sample of 1,000 is as many as 1 - 0.999.
constexpr double rounding = 1e-9;

// After this nothing changes any more.
Duration end_of_all(const AttemptTail& tail, const Hedges& hedges) {
  return 2 * tail.last() + (hedges.delays.empty() ? Duration{} : hedges.delays.back()) + Duration{1};
}

// Of all errors that are allowed, on each side and at each place.
double error_of_each(const Hedges& hedges, double confidence) {
  return (1 - confidence) / 2 / static_cast<double>(1 + hedges.delays.size());
}

}  // namespace

TimeEstimate time_until(const AttemptTail& tail, const Hedges& hedges, double late_share, double confidence) {
  late_share *= 1 + rounding;
  const Duration end = end_of_all(tail, hedges);
  const double error = error_of_each(hedges, confidence);
  const auto is_reached = [&](const auto& after) {
    return earliest_that(end, [&](Duration t) { return late_share_after(hedges, t, after) <= late_share; });
  };
  TimeEstimate out;
  out.time = is_reached([&](Duration t) { return tail.after(t); });
  // Even with the least that may be late it is reached no sooner; with the most no later.
  out.at_least = is_reached([&](Duration t) { return tail.least_after(t, error); }).value_or(tail.last());
  out.at_most = is_reached([&](Duration t) { return tail.most_after(t, error); });
  return out;
}

ShareEstimate extra_attempts_of(const AttemptTail& tail, const Hedges& hedges, double confidence) {
  // As many places as there are pairs of attempts.
  const std::size_t count = hedges.delays.size(), places = std::max<std::size_t>(1, count * (count + 1) / 2);
  const double error = (1 - confidence) / 2 / static_cast<double>(places);
  return {extra_attempts(hedges, [&](Duration t) { return tail.after(t); }),
          extra_attempts(hedges, [&](Duration t) { return tail.least_after(t, error); }),
          extra_attempts(hedges, [&](Duration t) { return tail.most_after(t, error); })};
}

std::size_t needed_partitions(double completeness, std::size_t width) {
  // 0.95 of 20 is 19, whatever the last bit says.
  const double wanted = std::ceil(completeness * static_cast<double>(width) - 1e-6);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1.0, wanted)), 1, std::max<std::size_t>(1, width));
}

double late_share_for(double query_quantile, std::size_t needed, std::size_t width) {
  return 1 - chance_for_order_statistic(query_quantile, needed, width);
}

}  // namespace hedgerow::lab
