// CMake takes a semicolon in a test's title for the end of a list's element: ctest would run two halves, find no test of
// that name in either, and call both passed.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>

#include "tests/places.hpp"

TEST_CASE("no test's title holds a semicolon") {
  const std::regex title("TEST_CASE(_FIXTURE)?\\(.*\"([^\"]*)\"");
  int titles = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(hedgerow::test::source_path("tests"))) {
    if (entry.path().extension() != ".cpp") continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      std::smatch match;
      if (!line.starts_with("TEST_CASE") || !std::regex_search(line, match, title)) continue;
      ++titles;
      CAPTURE(entry.path().string());
      CHECK(match[2].str().find(';') == std::string::npos);
    }
  }
  CHECK(titles > 50);
}
