// Files that every report holds, put into the program when it is built (cmake/embed_text.cmake).
#pragma once

#include <string_view>

namespace hedgerow::lab::report {

extern const std::string_view chart_library;  // Chart.js (MIT), minified, with its licence's notice
extern const std::string_view page_script;    // page.js
extern const std::string_view page_style;     // page.css

}  // namespace hedgerow::lab::report
