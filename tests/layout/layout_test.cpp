#include <doctest/doctest.h>

#include "include_rules.hpp"
#include "tests/places.hpp"

namespace hedgerow::layout {

TEST_CASE("the house's files keep its order") {
  const auto files = read_sources(test::source_path(""));
  CHECK(files.contains("root/policy/query/fanout.cpp"));
  CHECK(files.contains("leaf/work_queue.hpp"));
  for (const auto& violation : violations(files)) FAIL_CHECK(violation);
}

TEST_CASE("every rule finds the file that breaks it, and lets its neighbour pass") {
  struct Row {
    const char* path;
    const char* text;
    bool breaks;
  };
  const Row rows[] = {
      {"base/ids.cpp", "#include \"wire/messages.hpp\"\n", true},
      {"corpus/reader.cpp", "#include \"index/manifest.hpp\"\n", true},
      {"index/query.cpp", "#include \"corpus/document.hpp\"\n", false},
      {"index/query.cpp", "#include \"wire/messages.hpp\"\n", true},
      {"wire/link.cpp", "#include \"index/query.hpp\"\n", true},
      {"wire/link.cpp", "#include \"leaf/session.hpp\"\n", true},
      {"leaf/session.cpp", "#include \"index/searcher.hpp\"\n", false},
      {"leaf/session.cpp", "#include \"root/merge.hpp\"\n", true},
      {"root/merge.cpp", "#include \"index/ranking.hpp\"\n", false},
      {"root/merge.cpp", "#include \"index/searcher.hpp\"\n", true},
      {"root/merge.cpp", "#include \"index/builder.hpp\"\n", true},
      {"root/merge.cpp", "#include \"index/query.hpp\"\n#include \"leaf/session.hpp\"\n", true},
      {"lab/main.cpp", "#include \"root/server.hpp\"\n#include \"leaf/server.hpp\"\n", false},
      {"root/merge.cpp", "#include \"lab/load.hpp\"\n", true},
      {"root/policy/query/hedge.cpp", "#include \"base/clock.hpp\"\n#include \"root/policy/query/fanout.hpp\"\n", false},
      {"root/policy/query/hedge.cpp", "#include \"root/merge.hpp\"\n", true},
      {"root/policy/query/hedge.cpp", "auto now = std::chrono::steady_clock::now();\n", true},
      {"root/fanout_runner.cpp", "auto now = std::chrono::steady_clock::now();\n", false},
      {"leaf/transit_clock.cpp", "std::chrono::system_clock::time_point wall;\n", true},
      {"root/server.cpp", "std::random_device seed;\n", true},
      {"root/main.cpp", "std::random_device seed;\n", false},
      {"root/routes.hpp", "// Routes.\n#include <boost/beast/http.hpp>\n", true},
      {"wire/beast_link.hpp", "// Links.\n#include <boost/beast/http.hpp>\n", false},
      {"root/routes.hpp", "#pragma once\n", true},
      {"tests/root/helpers.hpp", "// Things.\n", true},
      {"root/policy/util.cpp", "\n", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.path);
    CAPTURE(row.text);
    CHECK(violations({{row.path, row.text}}).empty() != row.breaks);
  }
}

TEST_CASE("what a file reaches by way of others counts as included") {
  CHECK(violations({{"root/merge.cpp", "#include \"index/query.hpp\"\n"}, {"index/query.hpp", "// Queries.\n"}}).empty());
  CHECK_FALSE(violations({{"root/merge.cpp", "#include \"index/query.hpp\"\n"},
                          {"index/query.hpp", "// Queries.\n#include \"index/searcher.hpp\"\n"}}).empty());
}

TEST_CASE("Beast in a fourth source file is one too many") {
  const std::string beast = "#include <boost/beast/core.hpp>\n";
  Files files{{"wire/a.cpp", beast}, {"wire/b.cpp", beast}, {"wire/c.cpp", beast}};
  CHECK(violations(files).empty());
  files["root/d.cpp"] = beast;
  CHECK_FALSE(violations(files).empty());
}

}  // namespace hedgerow::layout
