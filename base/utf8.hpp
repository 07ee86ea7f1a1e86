// Whether bytes are UTF-8, and making them so.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hedgerow {

// Well-formed by table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view bytes);

// Replaces every maximal ill-formed part by U+FFFD, as the Unicode standard recommends (section 3.9) and browsers and
// Python do. Returns the number of replacements; 0 leaves the text untouched.
std::size_t repair_utf8(std::string& text);

}  // namespace hedgerow
