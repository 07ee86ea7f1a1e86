// A file of columns separated by tabs as a corpus, one document a line, plain or compressed. What the columns are, the
// first line says, by its names or else by their number:
//
//   names (a heading: the first column is id, _id, docid, docno, doc_id or pid, in any case): that one is the id; title,
//       text (or body, contents, passage) and url are what they say, and every other column is a facet
//   id, text                 (MS MARCO's passages)
//   id, title, text
//   id, url, title, text     (MS MARCO's documents)
//
// There is no quoting: quotes and backslashes are plain characters, and no value holds a tab or a newline. A line with
// another number of columns is an error of its own, and reading goes on behind it; blank lines are passed over. A first
// line that is none of these forms is a fatal error, since it says nothing of the others.
#pragma once

#include "corpus/reader.hpp"

namespace hedgerow {

// Errors: those of LineStream::open; invalid_argument without a file's name.
result<std::unique_ptr<Reader>> open_tsv(const std::string& file, const CorpusSettings& settings);

}  // namespace hedgerow
