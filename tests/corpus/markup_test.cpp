#include <doctest/doctest.h>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "corpus/charset.hpp"
#include "corpus/markdown.hpp"
#include "corpus/plain_text.hpp"
#include "corpus/rst.hpp"
#include "corpus/text_kind.hpp"
#include "tests/corpus/laws.hpp"
#include "tests/places.hpp"

using namespace std::string_literals;
using namespace hedgerow;
using namespace hedgerow::test;

namespace {

struct Row {
  std::string source;
  std::string text;
};

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

}  // namespace

TEST_CASE("a file's kind follows from its ending and its first bytes") {
  struct KindRow {
    std::string path;
    std::string head;
    std::string kind;
  };
  const KindRow rows[] = {
      {"a/README.md", "x", "markdown"},
      {"README.MARKDOWN", "x", "markdown"},
      {"index.rst", "x", "rst"},
      {"_sources/index.rst.txt", "x", "rst"},
      {"a.html", "x", "html"},
      {"a.htm", "", "html"},
      {"copyright", "x", "text"},
      {"main.cpp", "int main() {}\n", "text"},
      {"page", "\n<!DOCTYPE HTML PUBLIC", "html"},
      {"page.txt", "\xef\xbb\xbf<?xml version='1.0'?> <!-- x --><html lang='en'>", "html"},
      {"page", "<!-- <html>", "text"},
      {"note.xml", "<?xml version='1.0'?><note/>", "text"},
      {"x.html", "\x89PNG\r\n\x1a\n\0\0"s, "binary"},
      {"x", "text\0text"s, "binary"},
      {"x.txt", "\xff\xfeh\0i\0"s, "text"},
      {"x", "%PDF-1.4\n", "binary"},
      {"x", repeated("\x01\x02", 10), "binary"},
      {"man.txt", "N\bNA\bAM\bME\bE \x1b[1m\f", "text"},
      {"empty", "", "text"},
  };
  for (const KindRow& row : rows) {
    CAPTURE(row.path);
    CAPTURE(row.head);
    CHECK(to_string(kind_of(row.path, row.head)) == row.kind);
  }
  CHECK(without_packing_suffix("a/changelog.gz") == "a/changelog");
  CHECK(without_packing_suffix(".gz") == ".gz");
  CHECK(is_packed("\x1f\x8b\x08"));
  CHECK_FALSE(is_packed("BZh is how bzip2 begins"));
}

TEST_CASE("the first line of a text is its title if it looks like one") {
  struct TitleRow {
    std::string text;
    std::string title;
  };
  const TitleRow rows[] = {
      {"\n\n  Release notes\n=============\nx", "Release notes"},
      {"*** NEWS for 2.0 ***\n\ntext", "NEWS for 2.0"},
      {"# Hints\n", "Hints"},
      {"----\nHints\n----\n", "Hints"},
      {"/* Copying */\r\n\r\nx", "Copying"},
      {"H\xc3\xa9risson\n\n", "H\xc3\xa9risson"},
      // What goes on in the next line is a paragraph; what is code or a setting is no title.
      {"This is a text\nthat goes on.", ""},
      {"int x = 3;\n\n", ""},
      {"program hello;\n\n", ""},
      {"Format: https://example.org/\n\n", ""},
      {"bash (5.2-1) unstable; urgency=low\n\n", ""},
      {"#!/bin/sh\n\n", ""},
      {".. note\n\n", ""},
      {"12.5\n\n", ""},
      {std::string(121, 'x') + "\n\n", ""},
      {"", ""},
      {"\n \n***\n", ""},
  };
  for (const TitleRow& row : rows) {
    CAPTURE(row.text);
    const PlainText plain = reduce_text(row.text);
    CHECK(plain.title == row.title);
    CHECK(plain.text == row.text);
  }
}

TEST_CASE("Markdown loses its marks and keeps its words") {
  const Row rows[] = {
      {"# One #\ntext\ngoes on\n\n## Two", "One\n\ntext goes on\n\nTwo"},
      {"Big\n===\n\nsmall\n---\nx", "Big\n\nsmall\n\nx"},
      {"#!/bin/sh\n\n#hashtag", "#!/bin/sh\n\n#hashtag"},
      {"**bold** *it* __b__ _i_ ~~gone~~ ***both***", "bold it b i gone both"},
      {"snake_case_name 2 * 3 ~ 4", "snake_case_name 2 * 3 ~ 4"},
      {"`a_b*c` and ``x ` y``", "a_b*c and x ` y"},
      {"an `open tick", "an `open tick"},
      {"[text](http://x/y) [ref][1] ![pic](a.png) [plain] a[0]", "text ref pic [plain] a[0]"},
      {"[outer ![inner](a) text](b)", "outer inner text"},
      {"[1]: http://example.org \"Title\"\ntext", "text"},
      {"a note[^1]\n\n[^1]: The note.", "a note\n\n: The note."},
      {"<https://example.org> <me@example.org> <b>x</b> a < b", "https://example.org me@example.org x a < b"},
      {"x <!-- gone\n\nstill gone --> y", "x y"},
      {"&lt;tag&gt; &copy; R&D", "<tag> \xc2\xa9 R&D"},
      {"\\*no\\* \\[x\\]", "*no* [x]"},
      {"- a\n* b\n+ c\n  1. d\n- [ ] e\n- [x] f", "a\nb\nc\nd\ne\nf"},
      {"> quoted\n> > twice", "quoted twice"},
      {"a\n\n***\n\nb\n- - -", "a\n\nb"},
      {"| a | b |\n|---|:-:|\n| c | d |", "a   b\nc   d"},
      {"```c\nint *p = a[0];\n# no heading\n```\nx", "int *p = a[0];\n# no heading\n\nx"},
      {"~~~~\n~~~\n```\n~~~~\nx", "~~~\n```\n\nx"},
      {"text\n\n    indented *code*\n", "text\n\n    indented *code*"},
      {"- a\n\n    more *of* a", "a\n\nmore of a"},
      {"---\ntitle: x\n---\nbody", "body"},
      {"---\nno front matter", "no front matter"},
      {"", ""},
      {"```\nnever closed", "never closed"},
      {"[", "["},
      {"[a](", "[a]("},
  };
  for (const Row& row : rows) {
    CAPTURE(row.source);
    CHECK(reduce_markdown(row.source).text == row.text);
  }
  CHECK(reduce_markdown("text\n\n## A *b* `c`\n# D").title == "A b c");
  CHECK(reduce_markdown("---\ntitle: 'Front: matter'\n---\n# Heading").title == "Front: matter");
  CHECK(reduce_markdown("no heading").title == "");
}

TEST_CASE("reStructuredText loses its marks and keeps its words") {
  const Row rows[] = {
      {"Title\n=====\n\ntext\ngoes on", "Title\n\ntext goes on"},
      {"====\nOver\n====\n\nUnder\n~~~~~\nx", "Over\n\nUnder\n\nx"},
      {"**b** *i* ``c_d*e`` 2 * 3 *args", "b i c_d*e 2 * 3 args"},
      {":ref:`text <target>` :class:`~a.B` `link <http://x>`_ `phrase`_ word_ snake_case_x",
       "text a.B link phrase word snake_case_x"},
      {"a [1]_ note\n\n.. [1] The note.", "a [1] note\n\nThe note."},
      {".. code-block:: python\n   :linenos:\n\n   x = *a*\n\ny", "   x = *a*\n\ny"},
      {"Example::\n\n    *code*\n      more\n\ntext *i*", "Example:\n\n    *code*\n      more\n\ntext i"},
      {".. note:: Take *care*.\n   And more.\n\nx", "Take care.\nAnd more.\n\nx"},
      {".. image:: a.png\n   :alt: gone\n\n.. toctree::\n\n   gone\n\n.. _target:\n\n.. a comment\n   gone\n\nx", "x"},
      {".. figure:: a.png\n   :alt: gone\n\n   The caption.\n", "The caption."},
      {":Author: A. B.\n:orphan:\n\nx", "Author: A. B.\n\nx"},
      {"- a\n* b\n#. c\n1. d\n(2) e", "a\nb\nc\nd\ne"},
      {"+---+---+\n| a | b |\n+===+===+\n| c | d |\n+---+---+", "a   b\nc   d"},
      {"=== ===\na   b\n=== ===\nc   d\n=== ===", "a   b\nc   d"},
      {">>> f(*a)\n1\n\nx", ">>> f(*a)\n1\n\nx"},
      {"x\n\n----\n\ny", "x\n\ny"},
      {"a\\ b \\*c\\*", "ab *c*"},
      {"", ""},
      {"an `open tick", "an `open tick"},
      {"an ``open tick", "an ``open tick"},
      {"::\n\n  code", "  code"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.source);
    CHECK(reduce_rst(row.source).text == row.text);
  }
  CHECK(reduce_rst("x\n\nThe ``one``\n-----------\n").title == "The one");
  CHECK(reduce_rst("no title").title == "");
}

TEST_CASE("a megabyte of every hostile shape is reduced in time that grows with its size alone") {
  const std::size_t size = 1 << 20;
  for (const std::string piece :
       {"[", "]", "[](", "![", "`",   "``` ",   "*",   "_a",  "<",    "<a",  "<!--",     "\\",   "> ",     "- ",
        "|", "&", "#",   "\n", "=\n", "a\n=\n", "``a", "`a`", ":a:`", ".. ", ".. a::\n", "[a][", "\n    a"}) {
    CAPTURE(piece);
    const std::string text = repeated(piece, size / piece.size());
    CHECK(reduce_markdown(text).text.size() <= 2 * size);
    CHECK(reduce_rst(text).text.size() <= 2 * size);
    CHECK(reduce_text(text).text.size() == text.size());
  }
}

TEST_CASE("Markdown and reStructuredText broken at random never crash, and what comes out is UTF-8") {
  const std::string markdown = contents(test::source_path("tests/corpus/data/tree/manual/README.md"));
  const std::string rst = contents(test::source_path("tests/corpus/data/tree/manual/guide.rst"));
  Random random(21);
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const std::vector<std::string_view> words{"`",      "[",   "](", "```\n", "\n\n", "*",
                                              "::\n\n", ".. ", "|",  "<!--",  "\xc3"};
    for (const PlainText& plain : {reduce_markdown(decode_text(mutated(markdown, random, words)).text),
                                   reduce_rst(decode_text(mutated(rst, random, words)).text)}) {
      REQUIRE(is_valid_utf8(plain.title));
      REQUIRE(is_valid_utf8(plain.text));
    }
  }
}
