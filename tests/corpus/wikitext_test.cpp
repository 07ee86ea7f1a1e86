#include "corpus/wikitext.hpp"

#include <doctest/doctest.h>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "tests/corpus/laws.hpp"
#include "tests/places.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

using Texts = std::vector<std::string>;

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace

TEST_CASE("wikitext loses its marks and keeps its words") {
  struct Row {
    std::string source;
    std::string text;
  };
  const Row rows[] = {
      {"'''bold''' ''it'' '''''both''''' it's '''''' x", "bold it both it's ' x"},
      {"== One ==\ntext\n===Two===\n=", "One\n\ntext\n\nTwo\n\n="},
      {"[[Link]] [[Link|text]] [[Link]]s [[A#b|c]]", "Link text Links c"},
      {"[[Mercury (planet)|]]", "Mercury (planet)"},
      {"[http://x/y text here] [https://x] [//x z] [not a link]", "text here z [not a link]"},
      {"[mailto:a@b me] http://bare.example/", "me http://bare.example/"},
      {"a {{t}} b {{t|x={{u|{{v}}}}|[[l]]}} c {{{param|default}}} d", "a b c d"},
      {"name ({{lang|de|x}}) goes on", "name goes on"},
      {"a {{never closed | [[b|c]]", "a never closed | c"},
      {"a}} b", "a b"},
      {"a<ref>no</ref> b<ref name=\"x\" /> c<REF name='y'>no [[z]]</REF>", "a b c"},
      {"a<ref>never closed", "anever closed"},
      {"a<!-- no\n\nno -->b<!-- never", "ab"},
      {"<nowiki>''x'' [[y]] {{z}} &amp;</nowiki>", "''x'' [[y]] {{z}} &"},
      {"<pre>\n[[x]]\n</pre>", "[[x]]"},
      {"<syntaxhighlight lang=\"c\">\nint a[2] = {{0}};\n</syntaxhighlight>", "int a[2] = {{0}};"},
      {"a <math>x^2</math> b <b>c</b><br/>d <u class='x'>e</u> 1 < 2", "a b c\nd e 1 < 2"},
      {"<gallery>\nFile:a.jpg|no\n</gallery>x", "x"},
      {"* a\n** b\n# c\n: d\n; e", "a\nb\nc\nd\ne"},
      {"a\n----\nb", "a\n\nb"},
      {"__TOC__ a __init__ b_c __NOEDITSECTION__", "a __init__ b_c"},
      {"[[File:a.jpg|thumb|A [[caption]] here]]x[[Image:b.png]] [[file:c.svg]]", "x"},
      {"[[de:Hecke]] [[zh-min-nan:X]] [[:de:Hecke]] [[Wikipedia:About]] [[de:Hecke|shown]]",
       "de:Hecke Wikipedia:About shown"},
      {"&eacute;&#233;&nbsp;&lt;x&gt; &unknown; AT&T", "\xc3\xa9\xc3\xa9 <x> &unknown; AT&T"},
      {"{| class=\"x\"\n|+ cap\n! a !! b\n|-\n| c || style=\"y\" | d\n|\n* e\n|}\nafter",
       "cap\na b\nc d\n\ne\n\nafter"},
      {"{{box|\n{|\n| in\n|}\n}}x", "x"},
      {"{|\n| a\n{|\n| b\n|}\n| c\n|}\nd", "a\n\nb\n\nc\n\nd"},
      {"{|\n| [[a|b]] || [[c]]\n|}", "b c"},
      {"one\ntwo\n\n\n\nthree", "one\ntwo\n\nthree"},
      {"", ""},
      {"]] x | [[", "x |"},
      {"|}\n]] {|", ""},
      {"[[a]", "a]"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.source);
    CHECK(reduce_wikitext(row.source).text == row.text);
  }
}

TEST_CASE("categories are facts of the page, each once, and no text") {
  const ReducedWikitext reduced = reduce_wikitext(
      "a [[Category:Hedges]] [[category: trees_of_Devon |sort]] [[Category:Hedges|b]] [[:Category:Shown]] "
      "[[Kategorie:None here]] {{t|[[Category:In template]]}} [[Category:]] <nowiki>[[Category:No]]</nowiki>");
  CHECK(reduced.categories == Texts{"Hedges", "Trees of Devon", "In template"});
  CHECK(reduced.text == "a Category:Shown Kategorie:None here [[Category:No]]");
  const ReducedWikitext german = reduce_wikitext("[[Kategorie:Hecken]] [[Datei:x.jpg|y]] z [[Category:Both]]",
                                                 WikiNames{{"datei"}, {"kategorie"}});
  CHECK(german.categories == Texts{"Hecken", "Both"});
  CHECK(german.text == "z");
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "[[Category:" + std::to_string(i) + "]]";
  CHECK(reduce_wikitext(many).categories.size() == 1000);
}

TEST_CASE("a megabyte of every hostile shape is reduced in time that grows with its size alone") {
  const std::size_t size = 1 << 20;
  for (const std::string piece :
       {"{{",   "}}", "{{{",  "[[",       "]]",        "[[a|", "[[[[a|b]]", "[http://", "[",        "<ref>",
        "<ref", "<",  "<!--", "<nowiki>", "</nowiki>", "'",    "{|\n",      "|}\n",     "|-\n|a||", "=",
        "*",    "_",  "__A",  "&",        "|",         "\n",   "()",        "( ) ",     "{{a|[[b|"}) {
    CAPTURE(piece);
    const std::size_t times = size / piece.size();
    CHECK(reduce_wikitext(repeated(piece, times)).text.size() <= size);
    // And with its marks closed in turn, as far as there are such.
    CHECK(reduce_wikitext(repeated(piece, times / 2) + repeated("]]}}", size / 8)).text.size() <= 2 * size);
  }
}

TEST_CASE("wikitext broken at random never crashes, and what comes out is UTF-8") {
  const std::string page = contents(test::source_path("tests/corpus/data/mini-wiki.xml"));
  Random random(22);
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    std::string text =
        mutated(page, random, {"{{", "}}", "[[", "]]", "{|\n", "\n|}", "<ref>", "<nowiki>", "|", "''", "\n"});
    repair_utf8(text);
    const ReducedWikitext reduced = reduce_wikitext(text);
    REQUIRE(is_valid_utf8(reduced.text));
    for (const std::string& category : reduced.categories) REQUIRE(is_valid_utf8(category));
  }
}
