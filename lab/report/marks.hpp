// The marks of points, as SVG: one shape for each colour, so that series are told apart without colours. Pure.
#pragma once

#include <string>

#include "lab/report/chart.hpp"

namespace hedgerow::lab::report {

// At most two places behind the point: "12.5".
std::string svg_number(double value);

// The shape of that number (as page.js has them, in the same order) around (x, y), in a fill or stroke of this colour.
std::string mark_svg(unsigned shape, double x, double y, const std::string& colour);

// What stands before a series' name in a legend, 22 wide and 12 high, its middle at the left being (x, y).
std::string swatch_svg(const Series& series, unsigned number, const std::string& colour, double x, double y);

}  // namespace hedgerow::lab::report
