// A chart as data: what it asks, its axes, its series. Reports draw it on an HTML page that answers to the pointer
// (lab/report/page.hpp), documents as a picture that stands alone (lab/report/svg.hpp); both show the same marks. Pure.
//
// Values are in the axis' own unit, as its title says ("latency (ms)"). What cannot be drawn (a value that is no number, 0
// on a logarithmic axis, 1 on a quantile axis) is left out of the picture and of nothing else; a line is broken there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.hpp"

namespace hedgerow::lab::report {

enum class Scale {
  linear,
  logarithmic,
  // A share below 1, drawn by how much of the rest it leaves: 0.5, 0.9, 0.99, 0.999 stand at equal steps, as in HdrHistogram's
  // plots; labels are "50 %", "99.9 %".
  quantile,
  // x is the number of a word: 0 is Axis::words[0]; drawn side by side.
  words,
};

struct Axis {
  std::string title;  // with its unit
  Scale scale = Scale::linear;
  // Where the axis begins and ends; what is not given follows from the series and the rules.
  std::optional<double> least = std::nullopt, most = std::nullopt;
  std::vector<std::string> words = {};  // of Scale::words
  bool percent = false;                 // of linear axes: 0.95 is labelled "95 %"
};

struct Point {
  double x = 0, y = 0;
  // The ends of an interval around y (a confidence interval, or the least and the most of the repetitions).
  std::optional<double> low = std::nullopt, high = std::nullopt;
  std::string label = {};  // said beside the values, where the pointer is and in the table: "deadline 20ms"
};

enum class Mark {
  line,              // many points: a curve without marks
  points,            // marks alone
  line_and_points,   // a line through few points
  bars,              // from the axis' beginning up to y; of several series with bars, side by side
};

struct Series {
  std::string name;
  std::vector<Point> points;  // in drawing order
  Mark mark = Mark::line_and_points;
  bool dashed = false;  // an expectation, beside what was measured
  // The colour's number. Series that belong together (measured and expected) take the same one; not given: the series' place.
  std::optional<unsigned> colour = std::nullopt;
};

// A line across the whole chart: a target, the value that a paper has.
struct Rule {
  enum class Direction { horizontal, vertical };
  std::string name;
  double value = 0;
  Direction direction = Direction::horizontal;
};

struct Chart {
  std::string name;     // unique on a page: lower-case words with dashes
  std::string title;    // what one sees, in a line
  std::string caption;  // how to read it and what follows, in a sentence or two; the alternative for who does not see it
  Axis x, y;
  std::vector<Series> series;  // at most eight can be told apart, see colours
  std::vector<Rule> rules = {};
};

// The colours of series, in order, on light and on dark ground: told apart by people who see no red or no green, and of
// contrast 3:1 and more to the ground. Marks differ in shape as well.
constexpr unsigned colours = 8;
std::string_view colour_on_light(unsigned number);
std::string_view colour_on_dark(unsigned number);

// A latency distribution as a curve over a quantile axis (x: share of queries, y: milliseconds), from nanoseconds: forty
// points for each nine, as far as at least `fewest` values lie beyond. Empty for an empty histogram.
Series latency_curve(std::string name, const Histogram& nanoseconds, std::size_t fewest = 5);

// The axes for latency curves.
Axis quantile_axis(std::string title = "share of queries answered within");
Axis latency_axis(std::string title = "latency (ms)");

// The values where an axis has labels, and the labels: round numbers, from least to most. At most about `wanted` of them.
struct Tick {
  double value;
  std::string label;
};
std::vector<Tick> ticks_of(const Axis& axis, double least, double most, std::size_t wanted);

// Where axes begin and end: as given, or widened from the values to round ones. Bars make a linear y axis begin at 0.
struct Extent {
  double least, most;
};
Extent extent_of_x(const Chart& chart);
Extent extent_of_y(const Chart& chart);

// A value's place on an axis: 0 at its beginning, 1 at its end; nullopt where the scale has no place for it.
std::optional<double> place_on(const Axis& axis, Extent extent, double value);

// A value in words, of four digits at most: "1,834", "12.35", "99.97 %", "99.9 %" on a quantile axis, or the word itself.
std::string value_text(const Axis& axis, double value);

}  // namespace hedgerow::lab::report
