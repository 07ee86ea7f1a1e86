#include "lab/report/marks.hpp"

#include <cstdio>

namespace hedgerow::lab::report {

namespace {

constexpr double size = 4.2;  // the radius of the circle; the others look as large

std::string path(const std::string& d, const std::string& colour, bool filled) {
  return "<path class=\"mark\" d=\"" + d + "\"" + (filled ? " fill=\"" + colour + "\" stroke-width=\"1\"" : "") + "/>\n";
}

}  // namespace

std::string svg_number(double value) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f", value);
  std::string out(text);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string mark_svg(unsigned shape, double x, double y, const std::string& colour) {
  const auto n = svg_number;
  const double r = size;
  const std::string from = "M" + n(x) + " " + n(y);
  const std::string plus = from + "m-" + n(r * 1.1) + " 0h" + n(r * 2.2) + "m-" + n(r * 1.1) + " -" + n(r * 1.1) + "v" + n(r * 2.2);
  const std::string times = from + "m-" + n(r * 0.85) + " -" + n(r * 0.85) + "l" + n(r * 1.7) + " " + n(r * 1.7) + "m0 -" + n(r * 1.7) + "l-" +
                            n(r * 1.7) + " " + n(r * 1.7);
  switch (shape % colours) {
    case 0:
      return "<circle class=\"mark\" cx=\"" + n(x) + "\" cy=\"" + n(y) + "\" r=\"" + n(r) + "\" fill=\"" + colour + "\" stroke-width=\"1\"/>\n";
    case 1: {
      const double half = r * 0.9;
      return path(from + "m-" + n(half) + " -" + n(half) + "h" + n(2 * half) + "v" + n(2 * half) + "h-" + n(2 * half) + "z", colour, true);
    }
    case 2:
      return path(from + "m0 -" + n(r * 1.2) + "l" + n(r * 1.1) + " " + n(r * 2) + "h-" + n(r * 2.2) + "z", colour, true);
    case 3: {
      const std::string half = n(r * 1.3);
      return path(from + "m0 -" + half + "l" + half + " " + half + "l-" + half + " " + half + "l-" + half + " -" + half + "z", colour, true);
    }
    case 4:
      return path(times, colour, false);
    case 5:
      return path(from + "m0 " + n(r * 1.2) + "l" + n(r * 1.1) + " -" + n(r * 2) + "h-" + n(r * 2.2) + "z", colour, true);
    case 6:
      return path(plus, colour, false);
    default:
      return path(times + plus, colour, false);
  }
}

std::string swatch_svg(const Series& series, unsigned number, const std::string& colour, double x, double y) {
  const auto n = svg_number;
  std::string out = "<g class=\"legend\" fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"2\">\n";
  if (series.mark == Mark::bars) {
    out += "<rect x=\"" + n(x + 4) + "\" y=\"" + n(y - 6) + "\" width=\"14\" height=\"12\" fill=\"" + colour + "\" fill-opacity=\"" +
           (series.dashed ? "0.25" : "0.85") + "\" stroke-width=\"1\"/>\n";
  } else {
    if (series.mark != Mark::points) {
      out += "<line x1=\"" + n(x) + "\" y1=\"" + n(y) + "\" x2=\"" + n(x + 22) + "\" y2=\"" + n(y) + "\"" +
             (series.dashed ? " stroke-dasharray=\"5 4\"" : "") + "/>\n";
    }
    if (series.mark != Mark::line) out += mark_svg(number, x + 11, y, colour);
  }
  return out + "</g>\n";
}

}  // namespace hedgerow::lab::report
