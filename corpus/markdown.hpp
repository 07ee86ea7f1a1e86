// Markdown as plain text: the marks go, what they mark stays. Pure.
#pragma once

#include <string_view>

#include "corpus/plain_text.hpp"

namespace hedgerow {

// Headings, emphasis, lists, quotes, tables and HTML tags lose their marks; code is kept as it is; of links and images
// the text is kept, of bare links the address. The title is the front matter's, or else the first heading. A light
// hand, not a parser: what is no mark-up stays as it stands. markdown is valid UTF-8.
PlainText reduce_markdown(std::string_view markdown);

}  // namespace hedgerow
