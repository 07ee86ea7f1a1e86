// A file with one JSON object a line as a corpus, plain or compressed: {"id" (or "_id"), "title", "text", "url", …},
// every other field a facet (see json_record.hpp). Empty lines are passed over; an empty file is a corpus without
// documents.
//
// A line that is no such object is an error of its own, and reading goes on behind it. Compressed data that is damaged
// or breaks off is a fatal error.
#pragma once

#include "corpus/reader.hpp"

namespace hedgerow {

// Errors: those of LineStream::open; invalid_argument without a file's name.
result<std::unique_ptr<Reader>> open_jsonl(const std::string& file, const CorpusSettings& settings);

}  // namespace hedgerow
