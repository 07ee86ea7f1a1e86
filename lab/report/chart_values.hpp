// A chart as page.js draws it: everything reckoned, so that the script only has to put marks at places. And its values as a
// table, for who reads rather than sees. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/report/chart.hpp"

namespace hedgerow::lab::report {

// {"x": axis, "y": axis, "series": […], "rules": […]}. An axis is {"title", "words", "ticks": [{"place", "label"}]}; a series
// {"name", "colour", "mark", "dashed", "base", "points"} with points null (a gap) or {"x", "y", "low", "high", "text"}; a rule
// {"name", "place", "horizontal"}. Places are between 0 and 1 along the axis; x of an axis of words is the word's number.
nlohmann::ordered_json chart_values(const Chart& chart);

// The rows series, x, y, interval, remark; of long curves only the points nearest to the labels of the x axis, and the last.
struct ValueRow {
  std::string series, x, y, interval, label;
};
std::vector<ValueRow> value_rows(const Chart& chart);

}  // namespace hedgerow::lab::report
