// Queries with their ids, from the files of the common test collections.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace hedgerow::lab {

struct TestQuery {
  std::string id;
  std::string text;
};

// The form follows from the first line that is not blank: "{" begins JSON lines with "_id" or "id" and "text" (BEIR),
// "<" TREC topics (<num> and <title>), anything else is "id<TAB>text" (a heading "id", "_id", "qid" or "query-id" is
// passed over). The file may be compressed. Texts are as they stand there; at most a million.
// Errors: not_found, io, too_large; input, naming the line (no text, an id twice, not of that form); invalid_argument
// for a file without queries.
result<std::vector<TestQuery>> read_test_queries(const std::filesystem::path& path);

// The text's words alone: every character that is neither letter, digit nor beyond ASCII becomes a blank, so that no
// character of a natural sentence is taken for an operator; AND, OR, NOT, XOR, NEAR and ADJ are set in lower case for
// the same reason.
std::string plain_words(std::string_view text);

}  // namespace hedgerow::lab
