#include "index/passage.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace hedgerow::test {

namespace {

using Terms = std::vector<std::pair<std::string, double>>;

std::string passage(const std::string& text, const Terms& terms, std::size_t length = 60,
                    const std::string& stemmer = "english") {
  QueryWords query(stemmer);
  for (const auto& [term, weight] : terms) query.add(term, weight);
  const auto html = best_passage(text, query, length, nullptr);
  REQUIRE(html.has_value());
  return *html;
}

std::string filler(int words) {
  std::string text;
  for (int i = 0; i < words; ++i) text += i % 2 == 0 ? "lorem " : "ipsum ";
  return text;
}

}  // namespace

TEST_CASE("Hostile text stays text") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"<script>alert(1)</script>", "&lt;<b>script</b>&gt;alert(1)&lt;/<b>script</b>&gt;"},
      {"\"><img src=x onerror='alert(1)'>", "&quot;&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;"},
      {"a &amp; b &lt;script&gt;", "a &amp;amp; b &amp;lt;script&amp;gt;"},  // one word: script&gt
      {"</b><b>script</b>", "&lt;/b&gt;&lt;b&gt;<b>script</b>&lt;/b&gt;"},
      {"<!-- <script --> x", "&lt;!-- &lt;<b>script</b> --&gt; x"},
      {std::string("a\0b", 3), "a b"},
      {"\x01\x02 script\x1b[31m \x7f", "<b>script</b> [31m"},
      {"one \xc2\x85 two \xc2\x9b three", "one two three"},
      // What turns the direction of everything behind it around.
      {"\xe2\x80\xae" "evil\xe2\x80\xac \xe2\x81\xa7x\xe2\x81\xa9", "evil x"},
      {"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d script", "\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d <b>script</b>"},
      // Not well-formed: a lone surrogate, an overlong slash, a cut character, bytes that begin nothing.
      {"a\xed\xa0\x80z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz"},
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
      {"script\xe2\x82", "<b>script</b>\xef\xbf\xbd\xef\xbf\xbd"},
      {"\xff\xfe<\x80", "\xef\xbf\xbd\xef\xbf\xbd&lt;\xef\xbf\xbd"},
      {"\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
      {"", ""},
      {" \n\t\r\n ", ""},
  };
  for (const auto& [text, html] : table) {
    CAPTURE(text);
    CHECK(passage(text, {{"script", 1}}) == html);
  }
}

TEST_CASE("Nothing that comes from a text can begin a tag or an entity, whatever bytes it is made of") {
  const std::vector<std::string> pieces{"<", ">", "&", "\"", "'", "script", "lt;", "<b>", "</b>", "\xe4\xb8\xad", "\xe5\x9b\xbd",
                                        " ", "\n", std::string(1, '\0'), "\xed\xa0\x80", "\xe2\x80\xae", "\xff", "\xcc\x81", "&#60;",
                                        "\xe2\x80\x8d", "a", "."};
  Random random(9);
  for (int i = 0; i < 5'000; ++i) {
    std::string text;
    for (std::uint64_t n = random.below(60); n > 0; --n) text += pieces[random.below(pieces.size())];
    CAPTURE(text);
    std::string html = passage(text, {{"script", 2}, {"Za", 1}, {"\xe4\xb8\xad\xe5\x9b\xbd", 3}, {"b", 1}}, 64);
    // Marks open and close in turn.
    int depth = 0;
    for (std::size_t at = 0; at < html.size(); ++at) {
      const std::string rest = html.substr(at);
      if (rest.starts_with("<b>")) {
        REQUIRE(++depth == 1);
        at += 2;
      } else if (rest.starts_with("</b>")) {
        REQUIRE(--depth == 0);
        at += 3;
      } else if (rest.starts_with("&")) {
        const bool known = rest.starts_with("&amp;") || rest.starts_with("&lt;") || rest.starts_with("&gt;") ||
                           rest.starts_with("&quot;") || rest.starts_with("&#39;");
        REQUIRE(known);
      } else {
        REQUIRE(html[at] != '<');
        REQUIRE(html[at] != '>');
        REQUIRE(static_cast<unsigned char>(html[at]) >= 0x20);
      }
    }
    REQUIRE(depth == 0);
    REQUIRE(shown_text(html) == html);  // well-formed, and without a character that is not shown
  }
}

TEST_CASE("Words are marked as the search finds them") {
  struct Row {
    const char* what;
    std::string text;
    Terms terms;
    std::string html;
  };
  const std::vector<Row> table{
      {"a stem stands for every form", "Editing editors edit.", {{"Zedit", 1}}, "<b>Editing</b> editors <b>edit</b>."},
      {"a word stands for itself alone", "Editing editors edit.", {{"edit", 1}}, "Editing editors <b>edit</b>."},
      {"words of the title count as words", "Title words", {{"ZStitl", 1}, {"Swords", 1}}, "<b>Title</b> <b>words</b>"},
      {"facets, ids and other prefixes are no words", "editors q xfsection 1",
       {{"XFsection:editors", 1}, {"Qeditors", 1}, {"XGUARD", 1}}, "editors q xfsection 1"},
      {"suffixes and infixes belong to the word", "C++ and AT&T, not C", {{"c++", 1}, {"at&t", 1}},
       "<b>C++</b> and <b>AT&amp;T</b>, not C"},
      {"a pair of ideographs is one word, and its parts are none", "\xe4\xb8\xad\xe5\x9b\xbd\xe4\xba\xba \xe5\x9b\xbd",
       {{"\xe4\xb8\xad", 1}, {"\xe5\x9b\xbd", 1}, {"\xe4\xb8\xad\xe5\x9b\xbd", 1}},
       "<b>\xe4\xb8\xad\xe5\x9b\xbd</b>\xe4\xba\xba \xe5\x9b\xbd"},
      {"pairs that overlap are one mark", "\xe4\xb8\xad\xe5\x9b\xbd\xe4\xba\xba",
       {{"\xe4\xb8\xad\xe5\x9b\xbd", 1}, {"\xe5\x9b\xbd\xe4\xba\xba", 1}}, "<b>\xe4\xb8\xad\xe5\x9b\xbd\xe4\xba\xba</b>"},
      {"one ideograph is a word if the query says so", "\xe4\xb8\xad\xe5\x9b\xbd", {{"\xe5\x9b\xbd", 1}},
       "\xe4\xb8\xad<b>\xe5\x9b\xbd</b>"},
      {"capitals of other scripts", "\xc3\x89" "COLE", {{"\xc3\xa9" "cole", 1}}, "<b>\xc3\x89" "COLE</b>"},
      {"a query without words", "Some text", {}, "Some text"},
  };
  for (const auto& row : table) {
    CAPTURE(row.what);
    CHECK(passage(row.text, row.terms) == row.html);
  }
  CHECK(passage("Editing editors", {{"Zedit", 1}, {"editors", 1}}, 60, "none") == "Editing <b>editors</b>");
}

TEST_CASE("The passage holds most of the query, by weight, and close together") {
  // Far apart, so that one passage cannot hold two of them.
  const std::string text = "Alpha " + filler(40) + "beta alpha " + filler(40) + "gamma " + filler(40) + "beta x x alpha";
  const auto has = [&](const Terms& terms, const std::string& part) {
    const auto html = passage(text, terms, 80);
    CAPTURE(html);
    return html.find(part) != std::string::npos;
  };
  CHECK(has({{"alpha", 1}, {"beta", 1}}, "<b>beta</b> <b>alpha</b>"));
  CHECK(has({{"alpha", 1}, {"beta", 1}, {"gamma", 1.5}}, "<b>beta</b> <b>alpha</b>"));
  CHECK(has({{"alpha", 1}, {"beta", 1}, {"gamma", 2.5}}, "<b>gamma</b>"));
  // The first of equals.
  CHECK(has({{"alpha", 1}}, "<b>Alpha</b> lorem"));
  // A word again is worth nothing.
  CHECK(passage("rare " + filler(30) + "often often often often", {{"rare", 2}, {"often", 1.5}}, 64).starts_with("<b>rare</b>"));
}

TEST_CASE("A passage begins and ends between words, and says what it leaves out") {
  CHECK(passage(filler(4) + "needle " + filler(4), {{"needle", 1}}, 200) ==
        "lorem ipsum lorem ipsum <b>needle</b> lorem ipsum lorem ipsum");
  CHECK(passage(filler(40), {{"needle", 1}}, 30) == "lorem ipsum lorem ipsum lorem …");
  CHECK(passage(filler(40) + "needle " + filler(40), {{"needle", 1}}, 40) ==
        "… ipsum <b>needle</b> lorem ipsum lorem ipsum …");
  CHECK(passage(filler(40) + "needle", {{"needle", 1}}, 40) == "… ipsum lorem ipsum lorem ipsum <b>needle</b>");
  // A sentence that leads to the words is shown from its begin.
  CHECK(passage(filler(40) + "end. Now the tall needle " + filler(40), {{"needle", 1}}, 64) ==
        "… Now the tall <b>needle</b> lorem ipsum lorem ipsum lorem ipsum lorem …");
  // Without blanks: at what is no letter, or else between characters.
  CHECK(passage(std::string(100, 'x'), {}, 10) == "xxxxxxxxxx …");
  CHECK(passage("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", {}, 5) == "\xc3\xa9\xc3\xa9 …");
  CHECK(passage("e\xcc\x81" "e\xcc\x81" "e\xcc\x81", {}, 4) == "e\xcc\x81 …");
  const auto url = passage("http://" + std::string(60, 'x') + "/needle/" + std::string(60, 'y') + "/", {{"needle", 1}}, 40);
  CHECK(url == "… /<b>needle</b>/ …");
}

TEST_CASE("A passage is stopped inside a long text") {
  QueryWords query("english");
  query.add("needle", 1);
  const std::atomic<bool> stop = true;
  CHECK(!best_passage(filler(100'000), query, 240, &stop).has_value());
}

TEST_CASE("Hostile lengths: one word, blanks, or marks of a megabyte are a short passage") {
  constexpr std::size_t megabyte = 1 << 20;
  std::string marks;
  while (marks.size() < megabyte) marks += "needle ";
  std::string accents = "e";
  while (accents.size() < megabyte) accents += "\xcc\x81";
  for (const auto& text : {std::string(megabyte, 'x'), std::string(megabyte, ' ') + "x", marks, accents,
                           std::string(megabyte, '\x01'), std::string(megabyte, '<'), std::string(megabyte, '\xff')}) {
    const auto html = passage(text, {{"needle", 1}, {"nowhere", 1}}, 240);
    // At worst an entity for every byte, and marks around every word.
    CHECK(html.size() <= 240 * 6);
    const bool well_formed = shown_text(html) == html;
    CHECK(well_formed);
  }
}

}  // namespace hedgerow::test
