// Character references of HTML and SGML in text: "&amp;", "&eacute;", "&#233;", "&#xE9;".
#pragma once

#include <string>
#include <string_view>

namespace hedgerow {

// Appends the text with its references replaced, once: "&amp;lt;" becomes "&lt;". Names are HTML 4's, in any case where
// the exact one is unknown ("&AMP;"), and some of TREC's own ("&hyph;"). Numbers that are no characters become U+FFFD;
// 128 to 159 are taken for Windows-1252, as browsers do. What is no reference stays as it is.
void append_resolved(std::string_view text, std::string& out);

}  // namespace hedgerow
