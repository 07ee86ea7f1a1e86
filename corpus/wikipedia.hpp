// A MediaWiki XML export, such as the dumps of Wikipedia, as a corpus; plain or compressed (bz2, and the others).
//
// The articles (pages of namespace 0) are the documents. Redirects and pages of other namespaces are passed over and
// counted in the notes.
//   id      the page's number, which survives a renaming
//   title   the page's title
//   url     the wiki's address, from the export's head, and the title
//   text    the last revision without its mark-up (see wikitext.hpp)
//   facets  category, and modified (the revision's time)
//
// Memory: a few times the longest page, of at most longest_record_bytes; a longer one is an error that is not fatal.
#pragma once

#include "corpus/reader.hpp"

namespace hedgerow {

// Errors: those of ByteStream::open; invalid_argument without a file's name.
result<std::unique_ptr<Reader>> open_wikipedia(const std::string& file, const CorpusSettings& settings);

}  // namespace hedgerow
