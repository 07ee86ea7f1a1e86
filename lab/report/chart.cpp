#include "lab/report/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>

namespace hedgerow::lab::report {

namespace {

// By search: on their ground each is of contrast 3:1 and more, and any two differ by more than 20 (CIE 1976) to people
// who see no red or no green; tests/lab/report holds both.
constexpr std::array<std::string_view, colours> on_light{"#0a5aa5", "#dd6b0e", "#00765c", "#c873ad",
                                                         "#674700", "#2b0a14", "#2f86ff", "#5010b8"};
constexpr std::array<std::string_view, colours> on_dark{"#3d8fd6", "#e0762b", "#5ff0a0", "#e3a3b4",
                                                        "#f0dc4a", "#e4fbff", "#7a5cff", "#ae6896"};

constexpr double points_a_decade = 40;
// Ticks by which a linear axis is rounded out.
constexpr std::size_t rounding_ticks = 6;
constexpr std::size_t fewest_within_a_decade = 4;

// Where a quantile stands: 0, 1, 2, 3 for 0, 90 %, 99 %, 99.9 %.
double nines(double quantile) { return -std::log10(1 - quantile); }

// The step of 1, 2 or 5 times a power of ten that makes at most `wanted` intervals.
double round_step(double span, std::size_t wanted) {
  const double least = span / static_cast<double>(std::max<std::size_t>(1, wanted));
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// With thousands apart: "1,800", "0.05".
std::string decimal(double value, int places) {
  char text[400];
  std::snprintf(text, sizeof(text), "%.*f", places, value == 0 ? 0.0 : value);
  std::string out(text);
  const auto point = std::min(out.find('.'), out.size());
  for (auto at = static_cast<std::ptrdiff_t>(point) - 3; at > (out[0] == '-' ? 1 : 0); at -= 3) {
    out.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return out;
}

// As many places as a multiple of the step needs.
int places_of(double step) { return std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9))); }

// So many digits that count, and no zeros behind the point that say nothing.
std::string with_digits(double value, int digits) {
  if (value == 0) return "0";
  const int before = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  std::string text = decimal(value, std::max(0, digits - before));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string percent_text(double share, int digits) { return with_digits(share * 100, digits) + " %"; }

std::string quantile_text(double quantile) {
  // As many digits as it takes to tell it from 100 %.
  return percent_text(quantile, 2 + std::max(0, static_cast<int>(std::ceil(nines(quantile) - 1e-9)) - 2) + 1);
}

void linear_ticks(const Axis& axis, double least, double most, std::size_t wanted, std::vector<Tick>& out) {
  const double step = round_step(most - least, wanted);
  const double shown = axis.percent ? step * 100 : step;
  for (auto i = static_cast<std::int64_t>(std::ceil(least / step - 1e-6)); static_cast<double>(i) * step <= most + step * 1e-6; ++i) {
    const double value = static_cast<double>(i) * step;
    out.push_back({value, axis.percent ? decimal(value * 100, places_of(shown)) + " %" : decimal(value, places_of(shown))});
  }
}

void logarithmic_ticks(double least, double most, std::size_t wanted, std::vector<Tick>& out) {
  const int first = static_cast<int>(std::floor(std::log10(least) + 1e-9)), last = static_cast<int>(std::ceil(std::log10(most) - 1e-9));
  const double decades = std::log10(most / least);
  // 1, 2 and 5 of each decade where that fits; or else every so manieth power of ten.
  const bool within = 3 * decades <= static_cast<double>(wanted);
  const int stride = std::max(1, static_cast<int>(std::ceil((decades + 1) / static_cast<double>(wanted))));
  for (int power = first; power <= last; power += within ? 1 : stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = factor * std::pow(10.0, power);
      if (value < least * (1 - 1e-9) || value > most * (1 + 1e-9) || (!within && factor > 1)) continue;
      out.push_back({value, with_digits(value, 1)});
    }
  }
}

void quantile_ticks(double least, double most, std::size_t wanted, std::vector<Tick>& out) {
  const auto inside = [&](double value) { return value >= least - 1e-12 && value <= most + 1e-12; };
  for (const double value : {0.0, 0.5}) {
    if (inside(value)) out.push_back({value, percent_text(value, 2)});
  }
  const int last = std::min(12, static_cast<int>(std::floor(nines(most) + 1e-9)));
  const int stride = std::max(1, static_cast<int>(std::ceil(last / static_cast<double>(std::max<std::size_t>(1, wanted)))));
  for (int count = 1; count <= last; count += stride) {
    const double value = 1 - std::pow(10.0, -count);
    if (inside(value)) out.push_back({value, quantile_text(value)});
  }
}

bool can_stand_on(const Axis& axis, double value) {
  return std::isfinite(value) && !(axis.scale == Scale::logarithmic && value <= 0) &&
         !(axis.scale == Scale::quantile && (value < 0 || value >= 1));
}

// All that has to be seen along an axis.
std::vector<double> values_along(const Chart& chart, bool along_x) {
  std::vector<double> values;
  const Axis& axis = along_x ? chart.x : chart.y;
  const auto add = [&](double value) {
    if (can_stand_on(axis, value)) values.push_back(value);
  };
  for (const Series& series : chart.series) {
    for (const Point& point : series.points) {
      add(along_x ? point.x : point.y);
      if (along_x) continue;
      if (point.low) add(*point.low);
      if (point.high) add(*point.high);
    }
  }
  for (const Rule& rule : chart.rules) {
    if ((rule.direction == Rule::Direction::vertical) == along_x) add(rule.value);
  }
  return values;
}

Extent widened(const Axis& axis, double least, double most) {
  switch (axis.scale) {
    case Scale::linear: {
      if (least == most) {
        const double around = least == 0 ? 1 : std::abs(least) * 0.1;
        least -= around;
        most += around;
      }
      const double step = round_step(most - least, rounding_ticks);
      return {std::floor(least / step + 1e-9) * step, std::ceil(most / step - 1e-9) * step};
    }
    case Scale::logarithmic: {
      if (least == most) {
        least /= 2;
        most *= 2;
      }
      const auto round_out = [](double value, bool up) {
        const double power = std::pow(10.0, std::floor(std::log10(value) + 1e-9));
        double below = power;
        for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
          if (up && factor * power >= value * (1 - 1e-9)) return factor * power;
          if (factor * power <= value * (1 + 1e-9)) below = factor * power;
        }
        return up ? 10 * power : below;
      };
      return {round_out(least, false), round_out(most, true)};
    }
    case Scale::quantile:
    case Scale::words:
      break;
  }
  return {least, most > least ? most : least + (1 - least) / 2};
}

Extent extent_of(const Chart& chart, bool along_x) {
  const Axis& axis = along_x ? chart.x : chart.y;
  if (axis.scale == Scale::words) return {-0.5, std::max(0.5, static_cast<double>(axis.words.size()) - 0.5)};
  const auto values = values_along(chart, along_x);
  Extent extent = axis.scale == Scale::linear ? Extent{0, 1} : axis.scale == Scale::quantile ? Extent{0, 0.99} : Extent{1, 10};
  if (!values.empty()) {
    const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
    double least = *lowest, most = *highest;
    const bool bars = std::any_of(chart.series.begin(), chart.series.end(), [](const Series& series) { return series.mark == Mark::bars; });
    if (bars && !along_x && axis.scale == Scale::linear) {
      least = std::min(least, 0.0);
      most = std::max(most, 0.0);
    }
    extent = widened(axis, std::min(least, most), std::max(least, most));
    // A share is none beyond 100 %, and what is never negative does not begin below 0.
    if (axis.percent && *highest <= 1) extent.most = std::min(extent.most, 1.0);
    if (axis.scale == Scale::linear && *lowest >= 0) extent.least = std::max(extent.least, 0.0);
  }
  if (axis.least && can_stand_on(axis, *axis.least)) extent.least = *axis.least;
  if (axis.most && can_stand_on(axis, *axis.most)) extent.most = *axis.most;
  if (!(extent.most > extent.least)) extent.most = axis.scale == Scale::quantile ? (1 + extent.least) / 2 : extent.least + 1;
  return extent;
}

}  // namespace

std::string_view colour_on_light(unsigned number) { return on_light[number % colours]; }
std::string_view colour_on_dark(unsigned number) { return on_dark[number % colours]; }

Series latency_curve(std::string name, const Histogram& nanoseconds, std::size_t fewest) {
  Series series{.name = std::move(name), .points = {}, .mark = Mark::line};
  if (nanoseconds.count() == 0) return series;
  const double reach = static_cast<double>(nanoseconds.count()) / static_cast<double>(std::max<std::size_t>(1, fewest));
  const double last = std::log10(std::max(2.0, reach));
  const auto steps = static_cast<int>(std::ceil(last * points_a_decade));
  for (int step = 0; step <= steps; ++step) {
    const double quantile = 1 - std::pow(10.0, -last * step / steps);
    series.points.push_back({.x = quantile, .y = static_cast<double>(nanoseconds.value_at_quantile(quantile)) / 1e6});
  }
  return series;
}

Axis quantile_axis(std::string title) { return {.title = std::move(title), .scale = Scale::quantile}; }
Axis latency_axis(std::string title) { return {.title = std::move(title), .scale = Scale::logarithmic}; }

std::vector<Tick> ticks_of(const Axis& axis, double least, double most, std::size_t wanted) {
  std::vector<Tick> ticks;
  wanted = std::max<std::size_t>(2, wanted);
  switch (axis.scale) {
    case Scale::linear:
      linear_ticks(axis, least, most, wanted, ticks);
      break;
    case Scale::logarithmic:
      logarithmic_ticks(least, most, wanted, ticks);
      // Within a decade they are too few, and equal steps lie far enough apart there.
      if (ticks.size() < fewest_within_a_decade && most < 10 * least * (1 - 1e-9)) {
        ticks.clear();
        linear_ticks(axis, least, most, std::min(wanted, rounding_ticks), ticks);
      }
      break;
    case Scale::quantile:
      quantile_ticks(least, most, wanted, ticks);
      break;
    case Scale::words:
      for (std::size_t i = 0; i < axis.words.size(); ++i) ticks.push_back({static_cast<double>(i), axis.words[i]});
      break;
  }
  return ticks;
}

Extent extent_of_x(const Chart& chart) { return extent_of(chart, true); }
Extent extent_of_y(const Chart& chart) { return extent_of(chart, false); }

std::optional<double> place_on(const Axis& axis, Extent extent, double value) {
  if (!can_stand_on(axis, value)) return std::nullopt;
  switch (axis.scale) {
    case Scale::logarithmic:
      return std::log(value / extent.least) / std::log(extent.most / extent.least);
    case Scale::quantile:
      return (nines(value) - nines(extent.least)) / (nines(extent.most) - nines(extent.least));
    case Scale::linear:
    case Scale::words:
      break;
  }
  return (value - extent.least) / (extent.most - extent.least);
}

std::string value_text(const Axis& axis, double value) {
  if (!std::isfinite(value)) return "none";
  if (axis.scale == Scale::words) {
    const bool named = value >= 0 && value < static_cast<double>(axis.words.size());
    return named ? axis.words[static_cast<std::size_t>(value)] : "none";
  }
  if (axis.scale == Scale::quantile && value > 0 && value < 1) return quantile_text(value);
  return axis.percent ? percent_text(value, 4) : with_digits(value, 4);
}

}  // namespace hedgerow::lab::report
