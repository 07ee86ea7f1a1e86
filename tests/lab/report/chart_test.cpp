#include "lab/report/chart.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lab/report/chart_values.hpp"

using namespace hedgerow;
using namespace hedgerow::lab::report;

namespace {

std::vector<std::string> labels(const Axis& axis, double least, double most, std::size_t wanted) {
  std::vector<std::string> out;
  for (const Tick& tick : ticks_of(axis, least, most, wanted)) out.push_back(tick.label);
  return out;
}
using Labels = std::vector<std::string>;

Chart chart_of(Axis x, Axis y, std::vector<Point> points) {
  return {.name = "chart", .title = "A chart", .caption = "What it shows.", .x = std::move(x), .y = std::move(y), .series = {{.name = "one", .points = std::move(points)}}};
}

// The parts of a colour in linear light.
std::array<double, 3> linear_of(std::string_view colour) {
  std::array<double, 3> out{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double part = std::stoi(std::string(colour.substr(1 + 2 * i, 2)), nullptr, 16) / 255.0;
    out[i] = part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
  }
  return out;
}

// Web Content Accessibility Guidelines 2.1.
double contrast(std::string_view a, std::string_view b) {
  const auto luminance = [](std::string_view colour) {
    const auto [red, green, blue] = linear_of(colour);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
  return std::max(x, y) / std::min(x, y);
}

// How far apart two colours are (CIE 1976) to people who see them by this matrix.
using Matrix = std::array<std::array<double, 3>, 3>;
double distance(std::string_view a, std::string_view b, const Matrix& sight) {
  const auto lab_of = [&](std::string_view colour) {
    const auto linear = linear_of(colour);
    std::array<double, 3> seen{};
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t i = 0; i < 3; ++i) seen[row] += sight[row][i] * linear[i];
      seen[row] = std::clamp(seen[row], 0.0, 1.0);
    }
    const auto bend = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = bend((0.4124 * seen[0] + 0.3576 * seen[1] + 0.1805 * seen[2]) / 0.95047);
    const double y = bend(0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]);
    const double z = bend((0.0193 * seen[0] + 0.1192 * seen[1] + 0.9505 * seen[2]) / 1.08883);
    return std::array<double, 3>{116 * y - 16, 500 * (x - y), 200 * (y - z)};
  };
  const auto p = lab_of(a), q = lab_of(b);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

}  // namespace

TEST_CASE("labels of a linear axis are round numbers, with as many places as they need") {
  CHECK(labels({.title = "x"}, 0, 10, 6) == Labels{"0", "2", "4", "6", "8", "10"});
  CHECK(labels({.title = "x"}, 0, 0.3, 4) == Labels{"0.0", "0.1", "0.2", "0.3"});
  CHECK(labels({.title = "x"}, -1000, 2000, 4) == Labels{"-1,000", "0", "1,000", "2,000"});
  CHECK(labels({.title = "x", .percent = true}, 0.9, 1, 6) == Labels{"90 %", "92 %", "94 %", "96 %", "98 %", "100 %"});
  CHECK(labels({.title = "x", .percent = true}, 0.995, 1, 5) == Labels{"99.5 %", "99.6 %", "99.7 %", "99.8 %", "99.9 %", "100.0 %"});
}

TEST_CASE("labels of a logarithmic axis are powers of ten, with 2 and 5 where there is room") {
  const Axis axis{.title = "x", .scale = Scale::logarithmic};
  CHECK(labels(axis, 1, 1000, 5) == Labels{"1", "10", "100", "1,000"});
  CHECK(labels(axis, 1, 100, 10) == Labels{"1", "2", "5", "10", "20", "50", "100"});
  CHECK(labels(axis, 0.01, 1, 4) == Labels{"0.01", "0.1", "1"});
  // Too many decades for a label each.
  CHECK(labels(axis, 1, 1e6, 4) == Labels{"1", "100", "10,000", "1,000,000"});
  // Within a decade 1, 2 and 5 are too few.
  CHECK(labels(axis, 2.2, 4.4, 5).size() >= 2);
  CHECK(labels(axis, 20, 50, 8) == Labels{"20", "25", "30", "35", "40", "45", "50"});
  CHECK(labels(axis, 10, 50, 8) == Labels{"10", "20", "30", "40", "50"});
}

TEST_CASE("a quantile axis names its nines") {
  const Axis axis = quantile_axis();
  CHECK(labels(axis, 0, 0.9999, 10) == Labels{"0 %", "50 %", "90 %", "99 %", "99.9 %", "99.99 %"});
  CHECK(labels(axis, 0.9, 0.99, 10) == Labels{"90 %", "99 %"});
}

TEST_CASE("places are equal steps for what the scale calls equal") {
  const auto at = [](const Axis& axis, Extent extent, double value) { return place_on(axis, extent, value).value(); };
  const Axis linear{.title = "x"}, logarithmic{.title = "x", .scale = Scale::logarithmic};
  CHECK(at(linear, {10, 20}, 10) == doctest::Approx(0));
  CHECK(at(linear, {10, 20}, 17.5) == doctest::Approx(0.75));
  CHECK(at(logarithmic, {1, 10000}, 10) == doctest::Approx(0.25));
  CHECK(at(logarithmic, {1, 10000}, 1000) == doctest::Approx(0.75));
  CHECK(at(quantile_axis(), {0, 0.999}, 0.9) == doctest::Approx(1.0 / 3));
  CHECK(at(quantile_axis(), {0, 0.999}, 0.99) == doctest::Approx(2.0 / 3));
  CHECK(at({.title = "x", .scale = Scale::words, .words = {"a", "b"}}, {-0.5, 1.5}, 1) == doctest::Approx(0.75));
}

TEST_CASE("what a scale has no place for is left out, and widens nothing") {
  const Axis logarithmic{.title = "x", .scale = Scale::logarithmic};
  CHECK_FALSE(place_on(logarithmic, {1, 10}, 0));
  CHECK_FALSE(place_on(logarithmic, {1, 10}, -1));
  CHECK_FALSE(place_on(quantile_axis(), {0, 0.9}, 1));
  CHECK_FALSE(place_on({.title = "x"}, {0, 1}, NAN));
  CHECK_FALSE(place_on({.title = "x"}, {0, 1}, INFINITY));
  const auto extent = extent_of_y(chart_of({.title = "x"}, logarithmic, {{1, 0}, {2, 20}, {3, 300}, {4, NAN}}));
  CHECK(extent.least == doctest::Approx(20));
  CHECK(extent.most == doctest::Approx(500));
}

TEST_CASE("axes hold all points, their intervals and the rules, rounded outwards") {
  auto chart = chart_of({.title = "x"}, {.title = "y"}, {{1, 11}, {9, 17, 8, 19}});
  chart.rules = {{"target", 22}};
  CHECK(extent_of_y(chart).least == doctest::Approx(5));
  CHECK(extent_of_y(chart).most == doctest::Approx(25));
  chart.y.least = 0;
  CHECK(extent_of_y(chart).least == 0);
  // Rules of the other direction do not count.
  CHECK(extent_of_x(chart).most == doctest::Approx(10));
}

TEST_CASE("an axis of shares ends at 100 percent, bars begin at 0, and one value alone has an axis all the same") {
  const Axis percent{.title = "y", .percent = true};
  CHECK(extent_of_y(chart_of({.title = "x"}, percent, {{1, 0.93}, {2, 0.999}})).most == 1);
  CHECK(extent_of_y(chart_of({.title = "x"}, percent, {{1, 1}})).most == 1);
  auto bars = chart_of({.title = "x"}, {.title = "y"}, {{1, 93}, {2, 99}});
  bars.series.front().mark = Mark::bars;
  CHECK(extent_of_y(bars).least == 0);
  for (const Axis& axis : {Axis{.title = "y"}, Axis{.title = "y", .scale = Scale::logarithmic}, quantile_axis()}) {
    for (const double value : {0.0, 0.5, 5.0}) {
      const auto extent = extent_of_y(chart_of({.title = "x"}, axis, {{1, value}}));
      CHECK(extent.most > extent.least);
      CHECK(ticks_of(axis, extent.least, extent.most, 6).size() >= 1);
    }
    CHECK(extent_of_y(chart_of({.title = "x"}, axis, {})).most > extent_of_y(chart_of({.title = "x"}, axis, {})).least);
  }
}

TEST_CASE("values in words have four digits at most, and no zeros that say nothing") {
  const Axis plain{.title = "x"}, percent{.title = "x", .percent = true};
  CHECK(value_text(plain, 1834.4) == "1,834");
  CHECK(value_text(plain, 12.3456) == "12.35");
  CHECK(value_text(plain, 0.5) == "0.5");
  CHECK(value_text(plain, 0) == "0");
  CHECK(value_text(plain, 9.99996) == "10");
  CHECK(value_text(percent, 0.9997) == "99.97 %");
  CHECK(value_text(percent, 1) == "100 %");
  CHECK(value_text(quantile_axis(), 0.999) == "99.9 %");
  CHECK(value_text({.title = "x", .scale = Scale::words, .words = {"a", "b"}}, 1) == "b");
  CHECK(value_text(plain, NAN) == "none");
}

TEST_CASE("a latency curve tells the histogram's quantiles, and stops where too few values lie beyond") {
  Histogram histogram(10'000'000'000);
  // 1, 2, … 10,000 ms.
  for (std::uint64_t i = 1; i <= 10'000; ++i) histogram.record(i * 1'000'000);
  const Series curve = latency_curve("one", histogram, 10);
  CHECK(curve.points.front().x == 0);
  CHECK(curve.points.back().x == doctest::Approx(0.999));
  CHECK(curve.points.back().y == doctest::Approx(9990).epsilon(0.002));
  for (const Point& point : curve.points) {
    if (point.x > 0) CHECK(point.y == doctest::Approx(point.x * 10'000).epsilon(0.01));
  }
  CHECK(latency_curve("none", Histogram(1000)).points.empty());
}

TEST_CASE("series are told apart by people who see no red or no green, and on their ground") {
  // Machado, Oliveira and Fernandes 2009, at full severity.
  const Matrix all{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const Matrix no_red{{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
  const Matrix no_green{{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
  for (unsigned i = 0; i < colours; ++i) {
    CAPTURE(i);
    CHECK(contrast(colour_on_light(i), "#ffffff") >= 3);
    CHECK(contrast(colour_on_dark(i), "#15181e") >= 3);
    for (unsigned j = 0; j < i; ++j) {
      CAPTURE(j);
      for (const Matrix& sight : {all, no_red, no_green}) {
        CHECK(distance(colour_on_light(i), colour_on_light(j), sight) > 20);
        CHECK(distance(colour_on_dark(i), colour_on_dark(j), sight) > 20);
      }
    }
  }
}

TEST_CASE("the script's values are places along the axes, with a gap where a value has none") {
  auto chart = chart_of({.title = "x", .least = 0, .most = 10}, {.title = "y", .scale = Scale::logarithmic, .least = 1, .most = 100},
                        {{0, 1}, {5, 0}, {10, 10, 1, 100, "last"}, {12, 10}});
  chart.rules = {{"target", 10}, {"far", 11, Rule::Direction::vertical}};
  const auto values = chart_values(chart);
  const auto& points = values["series"][0]["points"];
  REQUIRE(points.size() == 4);
  CHECK(points[0]["x"] == 0.0);
  CHECK(points[0]["y"] == 0.0);
  CHECK(points[1].is_null());
  CHECK(points[2]["x"] == 1.0);
  CHECK(points[2]["y"] == 0.5);
  CHECK(points[2]["low"] == 0.0);
  CHECK(points[2]["high"] == 1.0);
  CHECK(points[2]["text"] == "last: 10 (1 to 100) at 10");
  CHECK(points[3].is_null());  // beyond the axis' end
  REQUIRE(values["rules"].size() == 1);
  CHECK(values["rules"][0]["place"] == 0.5);
  CHECK(values["y"]["ticks"].back()["label"] == "100");
}

TEST_CASE("a long curve is told at the axis' labels, a short one in full") {
  Series curve{.name = "curve", .points = {}, .mark = Mark::line};
  for (int i = 0; i <= 1000; ++i) curve.points.push_back({i / 100.0, i * 1.0});
  Chart chart{.name = "c", .title = "", .caption = "", .x = {.title = "x"}, .y = {.title = "y"}, .series = {curve}};
  const auto rows = value_rows(chart);
  CHECK(rows.size() >= 5);
  CHECK(rows.size() <= 12);
  for (const auto& row : rows) CHECK(std::stod(row.x) == std::floor(std::stod(row.x)));
  chart.series.front().points.resize(7);
  CHECK(value_rows(chart).size() == 7);
}
