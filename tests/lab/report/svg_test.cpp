#include "lab/report/svg.hpp"

#include <doctest/doctest.h>
#include <libxml/parser.h>
#include <libxml/tree.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

using namespace hedgerow::lab::report;

namespace {

// An SVG as an XML parser reads it.
class Drawing {
 public:
  explicit Drawing(const std::string& svg)
      : document_(xmlReadMemory(svg.data(), static_cast<int>(svg.size()), "chart.svg", nullptr, XML_PARSE_NONET | XML_PARSE_NOERROR), &xmlFreeDoc) {
    REQUIRE_MESSAGE(document_, "no XML: " << svg);
  }

  // All elements of a name, and of a class where one is given.
  std::vector<xmlNode*> all(const std::string& name, const std::string& css = "") const {
    std::vector<xmlNode*> found;
    collect(xmlDocGetRootElement(document_.get()), name, css, found);
    return found;
  }
  std::string text_of(const std::string& name) const {
    const auto found = all(name);
    REQUIRE(found.size() == 1);
    const std::unique_ptr<xmlChar, decltype(xmlFree)> text(xmlNodeGetContent(found.front()), xmlFree);
    return reinterpret_cast<const char*>(text.get());
  }
  static std::string attribute(xmlNode* node, const char* name) {
    const std::unique_ptr<xmlChar, decltype(xmlFree)> value(xmlGetProp(node, reinterpret_cast<const xmlChar*>(name)), xmlFree);
    return value ? reinterpret_cast<const char*>(value.get()) : "";
  }
  static double number(xmlNode* node, const char* name) { return std::stod(attribute(node, name)); }

 private:
  static void collect(xmlNode* node, const std::string& name, const std::string& css, std::vector<xmlNode*>& found) {
    for (; node; node = node->next) {
      if (node->type != XML_ELEMENT_NODE) continue;
      if (reinterpret_cast<const char*>(node->name) == name && (css.empty() || attribute(node, "class") == css)) found.push_back(node);
      collect(node->children, name, css, found);
    }
  }
  std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document_;
};

Chart drawn_chart(Axis x, Axis y, std::vector<Series> series) {
  return {.name = "chart", .title = "A chart", .caption = "What it shows.", .x = std::move(x), .y = std::move(y), .series = std::move(series)};
}

struct Place {
  double x, y;
};
// Where the circles of the first colour stand.
std::vector<Place> circles(const Chart& chart) {
  const Drawing picture(to_svg(chart));
  std::vector<Place> places;
  for (xmlNode* circle : picture.all("circle", "mark")) places.push_back({Drawing::number(circle, "cx"), Drawing::number(circle, "cy")});
  return places;
}

void check_equal_steps(const std::vector<Place>& places) {
  REQUIRE(places.size() >= 3);
  for (std::size_t i = 2; i < places.size(); ++i) {
    CHECK(places[i].x - places[i - 1].x == doctest::Approx(places[1].x - places[0].x).epsilon(0.001));
    CHECK(places[i].y - places[i - 1].y == doctest::Approx(places[1].y - places[0].y).epsilon(0.001));
  }
  CHECK(places[1].x > places[0].x);
  CHECK(places[1].y < places[0].y);  // up is more
}

}  // namespace

TEST_CASE("marks stand where their values are, on every scale") {
  const Axis linear{.title = "x"}, logarithmic{.title = "y", .scale = Scale::logarithmic};
  check_equal_steps(circles(drawn_chart(linear, linear, {{.name = "one", .points = {{0, 10}, {5, 20}, {10, 30}}, .mark = Mark::points}})));
  check_equal_steps(circles(drawn_chart(logarithmic, logarithmic, {{.name = "one", .points = {{1, 20}, {10, 200}, {100, 2000}}}})));
  check_equal_steps(circles(drawn_chart(quantile_axis(), linear, {{.name = "one", .points = {{0.9, 1}, {0.99, 2}, {0.999, 3}}}})));
  check_equal_steps(circles(drawn_chart({.title = "x", .scale = Scale::words, .words = {"a", "b", "c"}}, linear,
                                     {{.name = "one", .points = {{0, 1}, {1, 2}, {2, 3}}}})));
}

TEST_CASE("marks lie within the picture, and those beyond a given axis are clipped") {
  const auto places = circles(drawn_chart({.title = "x"}, {.title = "y"}, {{.name = "one", .points = {{-3, -7}, {44, 1000}}}}));
  for (const auto& [x, y] : places) {
    CHECK(x > 20);
    CHECK(x < 860);
    CHECK(y > 20);
    CHECK(y < 460);
  }
  const Drawing picture(to_svg(drawn_chart({.title = "x"}, {.title = "y"}, {{.name = "one", .points = {{1, 1}}}})));
  REQUIRE(picture.all("clipPath").size() == 1);
}

TEST_CASE("heights of bars are as their values, side by side") {
  const Axis words{.title = "x", .scale = Scale::words, .words = {"a", "b"}};
  const Drawing picture(to_svg(drawn_chart(words, {.title = "y"},
                                        {{.name = "one", .points = {{0, 10}, {1, 20}}, .mark = Mark::bars},
                                         {.name = "two", .points = {{0, 30}, {1, 40}}, .mark = Mark::bars}})));
  const auto bars = picture.all("rect", "bar");
  REQUIRE(bars.size() == 4);
  const double unit = Drawing::number(bars[0], "height") / 10;
  const double values[] = {10, 20, 30, 40};
  for (std::size_t i = 0; i < 4; ++i) CHECK(Drawing::number(bars[i], "height") / unit == doctest::Approx(values[i]).epsilon(0.002));
  // a of one, a of two, b of one, b of two: none over another.
  const auto left = [&](std::size_t i) { return Drawing::number(bars[i], "x"); };
  const double width = Drawing::number(bars[0], "width");
  CHECK(left(0) + width <= left(2));
  CHECK(left(2) + width <= left(1));
  CHECK(left(1) + width <= left(3));
}

TEST_CASE("a line is broken where a value has no place") {
  const auto path_of = [](std::vector<Point> points) {
    const Drawing picture(to_svg(drawn_chart({.title = "x"}, {.title = "y"}, {{.name = "one", .points = std::move(points), .mark = Mark::line}})));
    return Drawing::attribute(picture.all("path").front(), "d");
  };
  const auto begins = [](const std::string& path) { return std::count(path.begin(), path.end(), 'M'); };
  CHECK(begins(path_of({{1, 1}, {2, 2}, {3, 3}})) == 1);
  CHECK(begins(path_of({{1, 1}, {2, NAN}, {3, 3}, {4, 4}})) == 2);
}

TEST_CASE("title and caption are said to screen readers, and text is text whatever it holds") {
  auto chart = drawn_chart({.title = "x < 1 & \"y\""}, {.title = "y"}, {{.name = "</svg><script>", .points = {{1, 1}}}, {.name = "two", .points = {{2, 2}}}});
  chart.title = "Latency <ms>";
  chart.caption = "More & \"more\"\x01";
  const Drawing picture(to_svg(chart));
  CHECK(picture.text_of("title") == "Latency <ms>");
  CHECK(picture.text_of("desc") == "More & \"more\" ");
  CHECK(picture.all("script").empty());
}

TEST_CASE("a picture needs nothing from elsewhere, and is the same each time") {
  const auto chart = drawn_chart({.title = "x"}, {.title = "y"}, {{.name = "one", .points = {{1, 1}, {2, 1.0 / 3}}}});
  const std::string svg = to_svg(chart);
  CHECK(svg == to_svg(chart));
  // One address alone: the name of the format.
  CHECK(svg.find("http") == svg.find("http://www.w3.org/2000/svg"));
  CHECK(svg.find("http", svg.find("http") + 1) == std::string::npos);
  for (const char* foreign : {"<script", "href", "url(http", "@import", "<style", "<image", "<foreignObject"}) CHECK(svg.find(foreign) == std::string::npos);
}

TEST_CASE("every series has its colour and a shape of its own, in legend and plot") {
  std::vector<Series> series;
  for (unsigned i = 0; i < colours; ++i) series.push_back({.name = "series " + std::to_string(i), .points = {{double(i), double(i)}}, .mark = Mark::points});
  const std::string svg = to_svg(drawn_chart({.title = "x"}, {.title = "y"}, series));
  const Drawing picture(svg);
  CHECK(picture.all("g", "legend").size() == colours);
  // In the legend and at its point: a circle, or a path.
  CHECK(picture.all("circle", "mark").size() + picture.all("path", "mark").size() == 2 * colours);
  for (unsigned i = 0; i < colours; ++i) CHECK(svg.find(std::string(colour_on_light(i))) != std::string::npos);
}

TEST_CASE("names of rules stand over the series, and not over each other") {
  auto chart = drawn_chart({.title = "x", .least = 0, .most = 100}, {.title = "y", .least = 0, .most = 100}, {{.name = "one", .points = {{0, 0}, {100, 100}}}});
  chart.rules = {{"harmful, alike", 80, Rule::Direction::vertical}, {"harmful, independent", 81, Rule::Direction::vertical},
                 {"now", 79, Rule::Direction::vertical}, {"early", 10, Rule::Direction::vertical},
                 {"without hedges", 50}, {"the paper", 50.5}, {"target", 20}, {"beyond", 200}};
  const Drawing picture(to_svg(chart));
  const auto groups = picture.all("g", "rules");
  REQUIRE(groups.size() == 1);
  // Behind the lines and marks of the series, and so drawn over them.
  const auto all_groups = picture.all("g");
  CHECK(std::find(all_groups.begin(), all_groups.end(), groups.front()) + 1 == all_groups.end());
  struct Box {
    double left, right, y;
  };
  std::vector<Box> boxes;
  for (xmlNode* text = groups.front()->children; text; text = text->next) {
    if (text->type != XML_ELEMENT_NODE) continue;
    const double width = 7.1 * static_cast<double>(std::string(reinterpret_cast<const char*>(text->children->content)).size());
    const double x = Drawing::number(text, "x"), left = Drawing::attribute(text, "text-anchor") == "end" ? x - width : x;
    boxes.push_back({left, left + width, Drawing::number(text, "y")});
  }
  REQUIRE(boxes.size() == 7);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const bool apart = boxes[i].left > boxes[j].right || boxes[j].left > boxes[i].right || std::abs(boxes[i].y - boxes[j].y) >= 15;
      CHECK(apart);
    }
  }
}

TEST_CASE("labels along x do not run into each other") {
  std::vector<std::string> words;
  std::vector<Point> points;
  for (int i = 0; i < 30; ++i) {
    words.push_back("a long word " + std::to_string(i));
    points.push_back({double(i), 1});
  }
  const Drawing picture(to_svg(drawn_chart({.title = "x", .scale = Scale::words, .words = words}, {.title = "y"}, {{.name = "one", .points = points}})));
  double end = 0;
  int shown = 0;
  for (xmlNode* text : picture.all("text")) {
    if (Drawing::attribute(text, "text-anchor") != "middle" || !text->children) continue;
    const std::string content = reinterpret_cast<const char*>(text->children->content);
    if (!content.starts_with("a long word")) continue;
    const double half = static_cast<double>(content.size()) * 7.1 / 2;
    CHECK(Drawing::number(text, "x") - half > end);
    end = Drawing::number(text, "x") + half;
    ++shown;
  }
  CHECK(shown >= 5);
}
