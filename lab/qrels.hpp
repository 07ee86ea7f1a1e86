// Judgements of documents, query by query, from a file: TREC's qrels or BEIR's table.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "base/error.hpp"
#include "lab/relevance.hpp"

namespace hedgerow::lab {

// Query id to its judgements.
using Qrels = std::map<std::string, Judgements>;

// A line is "query iteration document grade" (TREC), or, below a heading that begins with "query", "query document
// grade" (BEIR), with any blanks between; the file may be compressed. The grade is a whole number. Blank lines are
// passed over. The same judgement may come twice, but not with another grade.
// Errors: not_found, io; input, naming the line; invalid_argument for a file without judgements.
result<Qrels> read_qrels(const std::filesystem::path& path);

}  // namespace hedgerow::lab
