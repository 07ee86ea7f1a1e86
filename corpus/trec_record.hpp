// What stands between <DOC> and </DOC> in a TREC file, as a document. Pure.
#pragma once

#include <string_view>

#include "base/error.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

// <DOCNO> is the id; the first of <TITLE>, <DOCTITLE>, <HEADLINE>, <HL>, <TI> and <HEAD> that is not blank is the title;
// <URL>, or the first line of <DOCHDR>, is the url; <DOCID>, <DOCOLDNO>, <FILEID>, comments, scripts and styles are left
// out; everything else is text. Tags are taken away, and end a word unless they are those of emphasis and links;
// character references are resolved; runs of blanks become one blank, or one newline where they held one.
//
// Elements need not be closed: a title or anything else that is special ends at the latest where <TEXT>, <BODY> or
// <HTML> begins, and <DOCNO> at the next tag. A "<" that begins no tag is text.
//
// Errors: input where there is no <DOCNO>.
result<Document> parse_trec_record(std::string_view record);

// The place in text, from `from` on, of the tag "<NAME>", "<NAME …" or "</NAME>", in any case; npos where there is none.
std::size_t find_tag(std::string_view text, std::string_view name, std::size_t from = 0);

}  // namespace hedgerow
