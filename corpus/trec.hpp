// TREC's document form as a corpus: <DOC><DOCNO>…</DOCNO>…</DOC>, one after another, in a file or in all files of a
// folder, plain or compressed; of the news collections and of the web ones alike (see trec_record.hpp).
//
// What is no such record is an error of its own, and reading goes on behind it: a record without <DOCNO>; one that no
// </DOC> closes before the next <DOC>, or the end of the file (such a one may be cut, and is not taken); a record or line
// that is too long; words outside of all records (mark-up there is passed over); a file without any <DOC>. Compressed
// data that is damaged or breaks off is fatal for a single file; in a folder, the other files are still read.
#pragma once

#include "corpus/reader.hpp"

namespace hedgerow {

// Errors: not_found, io; invalid_argument without a path, or for a folder without files. Files of a folder come in the
// byte order of their paths, folders in it included; names that begin with a dot are passed over.
result<std::unique_ptr<Reader>> open_trec(const std::string& path, const CorpusSettings& settings);

}  // namespace hedgerow
