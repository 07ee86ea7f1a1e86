// What the reference says to each of many queries, kept in a file: computed once, and compared with any number of
// partitionings and roots. A JSON object a line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "comparison.hpp"

namespace hedgerow::test {

struct ExpectedAnswer {
  std::string query;
  std::string like;  // the id of a document, in place of a query
  Expectation expected;
  std::vector<std::string> ids;  // of the documents in expected.top
};

// Both throw std::runtime_error.
void save(const std::vector<ExpectedAnswer>& answers, const std::filesystem::path& file);
std::vector<ExpectedAnswer> load_expected_answers(const std::filesystem::path& file);

}  // namespace hedgerow::test
