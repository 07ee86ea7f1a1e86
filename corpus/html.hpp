// HTML as plain text, by libxml2's parser, which takes anything for HTML, well-formed or not. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "corpus/plain_text.hpp"

namespace hedgerow {

// The encoding that a page declares in its first bytes: <meta charset>, <meta http-equiv>, or <?xml encoding>; empty
// where it declares none.
std::string declared_encoding(std::string_view head);

// Scripts, styles, comments and the like are dropped; block elements are lines and paragraphs; white space is as a
// browser shows it, kept in <pre>. The title is <title>, or else the first heading. html is valid UTF-8.
// Errors: input for pages that no browser would show and that would cost without bound: nested deeper than 500
// elements, a tag with more than 1000 attributes.
result<PlainText> reduce_html(std::string_view html);

}  // namespace hedgerow
