#include <doctest/doctest.h>

#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

TEST_CASE("an unknown corpus is refused with the names that there are, and what cannot be opened says why") {
  const TemporaryFolder folder;
  struct Row {
    std::string name;
    Errc code;
    std::string context;
  };
  const std::string known = "debian[:FOLDER], jsonl:FILE, synthetic:N, trec:PATH, tree:PATH, tsv:FILE, "
                            "wikipedia:FILE";
  const Row rows[] = {
      {"gopher", Errc::invalid_argument, "unknown corpus 'gopher'; there are " + known},
      {"", Errc::invalid_argument, "unknown corpus ''; there are " + known},
      {"Debian", Errc::invalid_argument, "unknown corpus 'Debian'; there are " + known},
      {"jsonl", Errc::invalid_argument, "'jsonl' needs a file: jsonl:FILE"},
      {"jsonl:", Errc::invalid_argument, "'jsonl' needs a file: jsonl:FILE"},
      {"jsonl:" + folder.path("none"), Errc::not_found, folder.path("none") + ": No such file or directory"},
      {"jsonl:" + folder.path("a:b"), Errc::not_found, folder.path("a:b") + ": No such file or directory"},
      {"jsonl:" + folder.path(), Errc::invalid_argument, folder.path() + ": is a folder, and a file is expected"},
      {"wikipedia:", Errc::invalid_argument, "'wikipedia' needs a file: wikipedia:FILE"},
      {"wikipedia:" + folder.path("none"), Errc::not_found, folder.path("none") + ": No such file or directory"},
      {"wikipedia:" + folder.path(), Errc::invalid_argument, folder.path() + ": is a folder, and a file is expected"},
      {"tsv:", Errc::invalid_argument, "'tsv' needs a file: tsv:FILE"},
      {"debian:" + folder.path(), Errc::not_found,
       "no package lists of apt in " + folder.path() + "; scripts/fetch-apt-lists fetches them"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto opened = open_corpus(row.name, {});
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == row.code);
    CHECK(opened.error().context == row.context);
  }
  for (const std::string count : {"", "0", "-1", "10k", " 10", "1e6", "4000000001", "99999999999999999999"}) {
    CAPTURE(count);
    const auto opened = open_corpus("synthetic:" + count, {});
    REQUIRE(opened.has_error());
    CHECK(opened.error().code == Errc::invalid_argument);
  }
}

TEST_CASE("an error names file and line where it has them") {
  CHECK(to_string(ReadError{"f", 3, "x", false}) == "f:3: x");
  CHECK(to_string(ReadError{"f", 0, "x", true}) == "f: x");
  CHECK(to_string(ReadError{"", 3, "x", false}) == "line 3: x");
  CHECK(to_string(ReadError{"", 0, "x", false}) == "x");
}
