// Which words are asked of the spelling service, and what is made of its answer.
#include "root/spelling_suggestion.hpp"

#include <doctest/doctest.h>

namespace hedgerow::root {

namespace {

using Words = std::vector<std::string>;

// A plan for a text of words with single blanks between; the document frequency of each.
QueryPlan plan_of(const std::string& text, const std::vector<std::uint32_t>& frequencies, std::uint64_t documents = 100'000) {
  QueryPlan plan;
  plan.collection_documents = documents;
  std::size_t begin = 0;
  for (const auto frequency : frequencies) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    plan.words.push_back({word, begin, end, frequency});
    begin = end + 1;
  }
  return plan;
}

std::optional<std::string> suggested(const std::string& text, const QueryPlan& plan, const Words& asked, const Words& words,
                                     const std::vector<std::uint32_t>& frequencies) {
  wire::SpellAnswer answer;
  answer.suggestions = words;
  answer.document_frequencies = frequencies;
  return suggested_text(text, plan, asked, answer);
}

}  // namespace

TEST_CASE("words that the collection does not have, or hardly, are asked, each once, in the order of the text") {
  CHECK(words_to_ask(plan_of("editro text wierd editro", {0, 30'000, 99, 0})) == Words{"editro", "wierd"});
  CHECK(words_to_ask(plan_of("rare common", {99, 100})) == Words{"rare"});
  CHECK(words_to_ask(plan_of("all known", {5000, 600})).empty());
  CHECK(words_to_ask(QueryPlan{}).empty());
}

TEST_CASE("short words, very long ones and those with digits are left in peace") {
  CHECK(words_to_ask(plan_of("ab xyz x11 libfoo2 " + std::string(65, 'x'), {0, 0, 0, 0, 0})) == Words{"xyz"});
}

TEST_CASE("no more than a few words are asked") {
  std::string text;
  std::vector<std::uint32_t> none;
  for (char c = 'a'; c <= 'z'; ++c) {
    text += std::string(text.empty() ? "" : " ") + "word" + c;
    none.push_back(0);
  }
  CHECK(words_to_ask(plan_of(text, none)).size() == 16);
}

TEST_CASE("in a collection without documents nothing is rare, but unknown words are") {
  CHECK(words_to_ask(plan_of("word", {0}, 0)) == Words{"word"});
}

TEST_CASE("the text is kept as it was typed around the words that are replaced") {
  const std::string text = "+Txet  \"a phrase\" -(Editro)";
  QueryPlan plan;
  plan.words = {{"txet", 1, 5, 0}, {"editro", 20, 26, 0}};
  CHECK(suggested(text, plan, {"txet", "editro"}, {"text", "editor"}, {900, 800}) == "+text  \"a phrase\" -(editor)");
  CHECK(suggested(text, plan, {"txet", "editro"}, {"", "editor"}, {0, 800}) == "+Txet  \"a phrase\" -(editor)");
  CHECK(suggested(text, plan, {"txet", "editro"}, {"", ""}, {0, 0}) == std::nullopt);
}

TEST_CASE("a word that comes twice is replaced twice") {
  CHECK(suggested("txet and txet", plan_of("txet and txet", {0, 9000, 0}), {"txet"}, {"text"}, {50}) == "text and text");
}

TEST_CASE("shown is what is twenty times as frequent as what was typed, and in two documents at least") {
  struct Row {
    std::uint32_t typed, suggestion;
    bool shown;
  };
  for (const Row row : {Row{0, 1, false}, Row{0, 2, true}, Row{1, 19, false}, Row{1, 20, true}, Row{50, 999, false}, Row{50, 1000, true}}) {
    CAPTURE(row.typed);
    CAPTURE(row.suggestion);
    CHECK(suggested("wrod", plan_of("wrod", {row.typed}), {"wrod"}, {"word"}, {row.suggestion}).has_value() == row.shown);
  }
  CHECK(suggested("same", plan_of("same", {0}), {"same"}, {"same"}, {100}) == std::nullopt);
}

TEST_CASE("places that do not fit the text change nothing") {
  QueryPlan plan;
  plan.words = {{"wrod", 2, 90, 0}, {"wrod", 3, 1, 0}};
  CHECK(suggested("a wrod", plan, {"wrod"}, {"word"}, {50}) == std::nullopt);
}

}  // namespace hedgerow::root
