#include "tests/peers/queries.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <sstream>

using namespace hedgerow;
using namespace hedgerow::peers;

namespace {

using Words = std::vector<std::string>;

Words split(const std::string& query) {
  std::istringstream stream(query);
  Words words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Whether the words stand one behind another in that order.
bool stands_in(const Words& words, const Words& text) {
  return std::search(text.begin(), text.end(), words.begin(), words.end()) != text.end();
}

std::vector<std::string> sample_of(std::size_t documents, std::size_t count, std::uint64_t seed) {
  QuerySample sample(count, seed);
  for (std::size_t i = 0; i < documents; ++i) {
    sample.see({.id = std::to_string(i), .title = "word" + std::string(1, static_cast<char>('a' + i % 26)), .url = {}, .text = {}, .facets = {}});
  }
  return sample.queries();
}

}  // namespace

TEST_CASE("A query's words are those that every engine takes for the same: ASCII letters, three or more, in lower case") {
  CHECK(plain_words_of("The Vim editor, an IDE.") == Words{"the", "vim", "editor", "ide"});
  CHECK(plain_words_of("utf8 x11 snake_case na\xc3\xafve caf\xc3\xa9 low-dose it's") == Words{"low", "dose"});
  CHECK(plain_words_of("") == Words{});
  CHECK(plain_words_of("a an of") == Words{});
}

TEST_CASE("A query is one to four different words that stand one behind another in the title or in the text") {
  const Document document{.id = "1", .title = "alpha beta gamma", .url = {}, .text = "one two three four five six seven eight", .facets = {}};
  const Words title{"alpha", "beta", "gamma"}, text{"one", "two", "three", "four", "five", "six", "seven", "eight"};
  Random random(7);
  std::map<std::size_t, int> lengths;
  int from_title = 0;
  for (int i = 0; i < 1000; ++i) {
    const Words words = split(query_from(document, random).value());
    ++lengths[words.size()];
    const bool in_title = stands_in(words, title), in_text = stands_in(words, text);
    REQUIRE((in_title || in_text));
    if (in_title) ++from_title;
  }
  // Four words come from the text alone, half of the time.
  CHECK(lengths.size() == 4);
  for (const auto& [length, times] : lengths) CHECK(times > (length == 4 ? 80 : 180));
  CHECK(from_title > 400);
  CHECK(from_title < 600);
}

TEST_CASE("A word that comes twice is asked for once, and a document without such words gives no query") {
  Random random(3);
  const Document twice{.id = "1", .title = "echo Echo ECHO", .url = {}, .text = {}, .facets = {}};
  for (int i = 0; i < 50; ++i) CHECK(query_from(twice, random) == "echo");
  const Document none{.id = "2", .title = "\xe4\xb8\xad\xe6\x96\x87", .url = {}, .text = "4 of 5", .facets = {}};
  CHECK(query_from(none, random) == std::nullopt);
}

TEST_CASE("The same seed draws the same queries, another one others, and never more than wanted") {
  CHECK(sample_of(1000, 50, 1) == sample_of(1000, 50, 1));
  CHECK(sample_of(1000, 50, 1) != sample_of(1000, 50, 2));
  CHECK(sample_of(1000, 50, 1).size() == 50);
  CHECK(sample_of(20, 50, 1).size() == 20);
}

TEST_CASE("Every document is as likely to be drawn as any other") {
  // 26 titles in turn; 1,000 samples of 26 of 260 documents: each title is expected 1,000 times, with a standard deviation of 29.
  std::map<std::string, int> drawn;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    for (const auto& query : sample_of(260, 26, seed)) ++drawn[query];
  }
  CHECK(drawn.size() == 26);
  for (const auto& [query, times] : drawn) {
    CAPTURE(query);
    CHECK(times > 1000 - 5 * 29);
    CHECK(times < 1000 + 5 * 29);
  }
}
