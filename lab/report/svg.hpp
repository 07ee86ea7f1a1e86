// A chart as an SVG that stands alone: for documents in a repository, for pages that run no scripts. Pure.
//
// No script, no style sheet, no font of its own, nothing from elsewhere: any viewer shows it, and the same chart is the
// same bytes on every machine, so that a repository sees when a picture changed. Title and caption are its <title> and
// <desc>, which screen readers say.
#pragma once

#include <string>

#include "lab/report/chart.hpp"

namespace hedgerow::lab::report {

struct SvgSettings {
  unsigned width = 860, height = 480;
  enum class Ground {
    light,         // white: for documents, which may be read on dark pages as well
    of_the_page,   // none; text and lines in the page's colours (the custom properties of lab/report/page.cpp)
  };
  Ground ground = Ground::light;
  bool with_title = true;  // off where the page has its own heading
};

std::string to_svg(const Chart& chart, const SvgSettings& settings = {});

}  // namespace hedgerow::lab::report
