// A folder, or an archive, of text, Markdown, reStructuredText and HTML as a corpus.
//
// A file is one document. Files that are compressed one by one ("changelog.gz") are unpacked; binary files, hidden ones
// and links are passed over and counted in the notes. Whatever is no mark-up of these (source code, say) is text.
//   id      the path below the folder, "bash/README.gz"
//   title   what the content names: <title> or the first heading, or a first line that looks like a title; else the
//           last two parts of the path
//   url     file:// and the path; empty for archives
//   text    the content without mark-up
//   facets  type (text, markdown, rst, html), folder (the first part of the path, where there are several), modified
//           (the day, UTC), size (bytes, as the file lies there)
//
// Memory: one file at a time, of at most longest_record_bytes (packed and unpacked); a larger one is an error that is
// not fatal. HTML and text in other encodings than UTF-8 are converted (see charset.hpp).
#pragma once

#include "corpus/reader.hpp"

namespace hedgerow {

// Errors: not_found, io, input for a file that is no archive, invalid_argument without a path.
result<std::unique_ptr<Reader>> open_tree(const std::string& path, const CorpusSettings& settings);

}  // namespace hedgerow
