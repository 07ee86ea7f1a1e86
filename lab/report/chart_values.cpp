#include "lab/report/chart_values.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace hedgerow::lab::report {

namespace {

using nlohmann::ordered_json;

// Of a chart some 900 pixels wide a hundred-thousandth is nothing.
double rounded(double place) { return std::round(place * 1e5) / 1e5; }

// The page's charts are about so large, whatever the window.
constexpr std::size_t x_labels = 10, y_labels = 8;
// A curve of more points than this is told at the axis' labels alone.
constexpr std::size_t most_told_points = 40;

const char* word_of(Mark mark) {
  switch (mark) {
    case Mark::line:
      return "line";
    case Mark::points:
      return "points";
    case Mark::line_and_points:
      return "line_and_points";
    case Mark::bars:
      return "bars";
  }
  return "";
}

ordered_json axis_json(const Axis& axis, Extent extent, std::size_t labels) {
  ordered_json ticks = ordered_json::array();
  for (const Tick& tick : ticks_of(axis, extent.least, extent.most, labels)) {
    if (const auto place = place_on(axis, extent, tick.value)) ticks.push_back({{"place", rounded(*place)}, {"label", tick.label}});
  }
  return {{"title", axis.title}, {"words", axis.scale == Scale::words}, {"ticks", std::move(ticks)}};
}

std::string interval_text(const Axis& axis, const Point& point) {
  if (!point.low || !point.high) return "";
  return value_text(axis, *point.low) + " to " + value_text(axis, *point.high);
}

// What stands beside the pointer.
std::string text_of(const Chart& chart, const Point& point) {
  std::string text = point.label.empty() ? "" : point.label + ": ";
  text += value_text(chart.y, point.y);
  if (const auto interval = interval_text(chart.y, point); !interval.empty()) text += " (" + interval + ")";
  return text + " at " + value_text(chart.x, point.x);
}

bool inside(double place) { return place >= -1e-6 && place <= 1 + 1e-6; }

ordered_json point_json(const Chart& chart, Extent x_extent, Extent y_extent, const Point& point) {
  const auto x = place_on(chart.x, x_extent, point.x), y = place_on(chart.y, y_extent, point.y);
  if (!x || !y || !inside(*x)) return nullptr;
  ordered_json out{{"x", chart.x.scale == Scale::words ? std::round(point.x) : rounded(*x)}, {"y", rounded(*y)}};
  if (point.low && point.high) {
    const auto low = place_on(chart.y, y_extent, *point.low), high = place_on(chart.y, y_extent, *point.high);
    if (low && high) {
      out["low"] = rounded(*low);
      out["high"] = rounded(*high);
    }
  }
  out["text"] = text_of(chart, point);
  return out;
}

// The points of a long curve that are worth a row.
std::set<std::size_t> told_points(const Chart& chart, const Series& series) {
  std::set<std::size_t> told;
  const Extent extent = extent_of_x(chart);
  for (const Tick& tick : ticks_of(chart.x, extent.least, extent.most, x_labels)) {
    const auto wanted = place_on(chart.x, extent, tick.value);
    if (!wanted) continue;
    std::size_t nearest = 0;
    double distance = 2;
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      const auto place = place_on(chart.x, extent, series.points[i].x);
      if (!place || std::abs(*place - *wanted) >= distance) continue;
      nearest = i;
      distance = std::abs(*place - *wanted);
    }
    if (distance <= 0.05) told.insert(nearest);
  }
  told.insert(series.points.size() - 1);
  return told;
}

}  // namespace

ordered_json chart_values(const Chart& chart) {
  const Extent x_extent = extent_of_x(chart), y_extent = extent_of_y(chart);
  ordered_json all_series = ordered_json::array(), rules = ordered_json::array();
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    const Series& series = chart.series[i];
    ordered_json points = ordered_json::array();
    for (const Point& point : series.points) points.push_back(point_json(chart, x_extent, y_extent, point));
    const auto base = place_on(chart.y, y_extent, std::clamp(0.0, y_extent.least, y_extent.most));
    all_series.push_back({{"name", series.name},
                          {"colour", series.colour.value_or(static_cast<unsigned>(i)) % colours},
                          {"mark", word_of(series.mark)},
                          {"dashed", series.dashed},
                          {"base", rounded(base.value_or(0))},
                          {"points", std::move(points)}});
  }
  for (const Rule& rule : chart.rules) {
    const bool horizontal = rule.direction == Rule::Direction::horizontal;
    const auto place = horizontal ? place_on(chart.y, y_extent, rule.value) : place_on(chart.x, x_extent, rule.value);
    if (place && inside(*place)) rules.push_back({{"name", rule.name}, {"place", rounded(*place)}, {"horizontal", horizontal}});
  }
  return {{"x", axis_json(chart.x, x_extent, x_labels)},
          {"y", axis_json(chart.y, y_extent, y_labels)},
          {"series", std::move(all_series)},
          {"rules", std::move(rules)}};
}

std::vector<ValueRow> value_rows(const Chart& chart) {
  std::vector<ValueRow> rows;
  for (const Series& series : chart.series) {
    const bool all = series.points.size() <= most_told_points;
    const auto told = all ? std::set<std::size_t>{} : told_points(chart, series);
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      if (!all && !told.contains(i)) continue;
      const Point& point = series.points[i];
      rows.push_back({series.name, value_text(chart.x, point.x), value_text(chart.y, point.y), interval_text(chart.y, point), point.label});
    }
  }
  return rows;
}

}  // namespace hedgerow::lab::report
