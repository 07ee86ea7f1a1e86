#include "leaf/query_pattern.hpp"

#include <doctest/doctest.h>

#include "index/fields.hpp"

namespace hedgerow::leaf {

namespace {

// "editing" to "edit", as an English stemmer does; other words to themselves.
std::string cut_ing(const std::string& word) { return word.ends_with("ing") ? word.substr(0, word.size() - 3) : word; }

bool meets(const char* pattern, const std::vector<std::string>& terms) {
  const auto parsed = QueryPattern::parse(pattern);
  REQUIRE(parsed.has_value());
  return parsed->matches(terms, cut_ing);
}

// What a plan makes of: editing title:vim section:editors "exact phrase".
const std::vector<std::string> planned_terms{"XFsection:editors", "ZSvim", "Zedit", "exact", "phrase"};

}  // namespace

TEST_CASE("a pattern is met by words and stems, titles and facets, each by its own terms alone") {
  struct Row {
    const char* pattern;
    bool met;
  };
  const Row rows[] = {
      {"editing", true},          {"EDITING", true},        {"edit", true},           {"editor", false},
      {"exact", true},            {"exac", false},          {"edit*", true},          {"ed?t", true},
      {"ed?", false},             {"[ef]dit", true},        {"*", true},              {"vim", false},
      {"v*", false},              {"title:vim", true},      {"title:v*", true},       {"title:edit", false},
      {"section:editors", true},  {"section:edit*", true},  {"section:edit", false},  {"secti:*", false},
      {"name:editors", false},    {"editors", false},       {"edit* exact", true},    {"edit* absent", false},
      {"-absent", true},          {"-edit*", false},        {"edit* -section:games", true},
      {"  edit*\t -absent ", true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.pattern);
    CHECK(meets(row.pattern, planned_terms) == row.met);
  }
}

TEST_CASE("the words of a spelling call are met as they were typed") {
  CHECK(meets("editr", {"editr", "txet"}));
  CHECK(meets("edit*", {"editr", "txet"}));
  CHECK_FALSE(meets("text", {"editr", "txet"}));
  CHECK_FALSE(meets("*", {}));
  CHECK(meets("-anything", {}));
}

TEST_CASE("a facet's name may hold what its terms write otherwise") {
  const auto term = fields::facet_term("made-of", "Oak");
  REQUIRE(term.has_value());
  CHECK(meets("made-of:oak", {*term}));
  CHECK(meets("made-of:OA*", {*term}));
}

TEST_CASE("a pattern of nothing is refused, and so is one beyond its bound") {
  for (const char* text : {"", "  ", "-", "title:", "word -section:"}) {
    CAPTURE(text);
    const auto parsed = QueryPattern::parse(text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == Errc::invalid_argument);
  }
  CHECK(QueryPattern::parse(std::string(1'000, 'x')).has_value());
  CHECK(QueryPattern::parse(std::string(1'001, 'x')).has_error());
  CHECK(QueryPattern::parse(" a* ")->text() == " a* ");
}

TEST_CASE("a word is found as it is written and by its stem, among the text's words alone") {
  CHECK(has_word(planned_terms, "Editing", cut_ing));
  CHECK(has_word(planned_terms, "exact", cut_ing));
  CHECK_FALSE(has_word(planned_terms, "vim", cut_ing));
  CHECK_FALSE(has_word(planned_terms, "edit*", cut_ing));
}

}  // namespace hedgerow::leaf
