// Text inside SVG and HTML: shown as it stands, whatever it holds. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hedgerow::lab::report {

// For text and for attribute values in double quotes. Control characters, which XML does not allow, become blanks.
std::string escaped(std::string_view text);

// For a JSON text that stands within <script>: nothing in it can end the element.
std::string escaped_in_script(std::string_view json);

}  // namespace hedgerow::lab::report
