// reStructuredText as plain text: the marks go, what they mark stays. Pure.
#pragma once

#include <string_view>

#include "corpus/plain_text.hpp"

namespace hedgerow {

// Section titles, emphasis, roles, lists, field lists and tables lose their marks; code and literal blocks are kept as
// they are; of links the text is kept; directives go, but for what they show (a note's text, a figure's caption);
// comments, targets, images and tables of contents go whole. The title is the first section title. A light hand, not a
// parser: what is no mark-up stays as it stands. rst is valid UTF-8.
PlainText reduce_rst(std::string_view rst);

}  // namespace hedgerow
