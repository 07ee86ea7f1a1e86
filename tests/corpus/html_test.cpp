#include "corpus/html.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "corpus/charset.hpp"
#include "tests/corpus/laws.hpp"
#include "tests/places.hpp"

using namespace std::string_literals;
using namespace hedgerow;
using namespace hedgerow::test;

namespace {

PlainText reduced(std::string_view html) {
  auto plain = reduce_html(html);
  if (!plain) FAIL(to_string(plain.error()));
  return *plain;
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// What is written to standard error meanwhile.
template <class Action>
std::string standard_error_of(const TemporaryFolder& folder, Action action) {
  std::fflush(stderr);
  const int kept = ::dup(STDERR_FILENO);
  REQUIRE(std::freopen(folder.path("stderr").c_str(), "w", stderr) != nullptr);
  action();
  std::fflush(stderr);
  REQUIRE(::dup2(kept, STDERR_FILENO) >= 0);
  ::close(kept);
  return contents(folder.path("stderr"));
}

}  // namespace

TEST_CASE("an HTML page is its title, and what a reader sees of it line by line") {
  const PlainText plain = reduced(R"(<!DOCTYPE html>
<html><head><meta charset="utf-8"><title>
  A &amp; B
  guide </title><style>p { color: red }</style><script>if (a < b) document.write("<p>no</p>");</script></head>
<body><!-- no <p>comment</p> -->
<h1>First <em>heading</em></h1>
<p>One   two<b>three</b>
four &eacute;&#233;&#xe9;&nbsp;&lt;tag&gt;.</p><p>Unclosed
<ul><li>a<li>b <i>c</i></ul>
<table><tr><th>h1<th>h2</tr><tr><td>x</td><td>y</td></tr></table>
line<br>break
<pre>  int main() {
    return 0;

  }
</pre>
<noscript>no</noscript><svg><text>no</text></svg>
<div>last</div></body></html>)");
  CHECK(plain.title == "A & B guide");
  CHECK(plain.text ==
        "First heading\n\nOne twothree four \xc3\xa9\xc3\xa9\xc3\xa9 <tag>.\n\nUnclosed\n\na\nb c\n\nh1 h2\nx y\n\n"
        "line\nbreak\n\n  int main() {\n    return 0;\n\n  }\n\nlast");
}

TEST_CASE("without a title the first heading is the title, and without that there is none") {
  CHECK(reduced("<p>x<h2>The <b>one</b></h2><h1>other</h1>").title == "The one");
  CHECK(reduced("<title> </title><h3>three</h3>").title == "three");
  CHECK(reduced("<p>text</p>").title == "");
  CHECK(reduced("").text == "");
  CHECK(reduced("just text, no mark-up & more").text == "just text, no mark-up & more");
}

TEST_CASE("a page's encoding is what its mark says, then its declaration, then UTF-8, then Windows-1252") {
  struct Row {
    std::string bytes;
    std::string text;
  };
  const std::string cafe = "caf\xc3\xa9";
  const Row rows[] = {
      {"<meta charset=utf-8><p>caf\xc3\xa9", cafe},
      {"<META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=ISO-8859-1\"><p>caf\xe9", cafe},
      {"<meta charset='iso-8859-2'><p>\xb1", "\xc4\x85"},
      {"<meta name=x><meta charset=koi8-r><p>\xc1", "\xd0\xb0"},
      {"<meta charset=\"Shift_JIS\"><p>\x93\xfa\x96{", "\xe6\x97\xa5\xe6\x9c\xac"},
      {"<?xml version='1.0' encoding='windows-1251'?><p>\xe0", "\xd0\xb0"},
      {"<p>caf\xc3\xa9", cafe},
      {"<p>caf\xe9 \x93x\x94", "caf\xc3\xa9 \xe2\x80\x9cx\xe2\x80\x9d"},
      {"<meta charset=utf-8><p>caf\xe9", cafe},                 // it lies
      {"<meta charset=no-such-thing><p>caf\xc3\xa9", cafe},
      {"<meta charset=utf-16><p>caf\xc3\xa9", cafe},            // what is read as ASCII is not UTF-16
      {"<meta charset=ISO-2022-CN-EXT><p>caf\xc3\xa9", cafe},   // not of the web's
      {"\xef\xbb\xbf<meta charset=iso-8859-1><p>caf\xc3\xa9", cafe},
      {"\xff\xfe<\0p\0>\0\xe9\0"s, "\xc3\xa9"},
      {"\xfe\xff\0<\0p\0>\0\xe9"s, "\xc3\xa9"},
      {"<p>\xc3\xa9\xc3\xa9\xc3\xa9\xe9", "\xc3\xa9\xc3\xa9\xc3\xa9\xef\xbf\xbd"},  // mostly UTF-8
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    const DecodedText decoded = decode_text(row.bytes, declared_encoding(row.bytes));
    CHECK(reduced(decoded.text).text == row.text);
  }
  CHECK(decode_text("\xc3\xa9\xc3\xa9\xe9").replaced == 1);
  CHECK(decode_text("\xff\xfe\x00\xd8"s).text == "\xef\xbf\xbd");  // half a pair
}

TEST_CASE("pages that would cost without bound are errors, and pages that are merely odd are read") {
  CHECK(reduce_html(repeated("<div>", 100'000)).error().context == "HTML nested deeper than 500 elements");
  CHECK(reduce_html(repeated("<b>", 1000) + "x" + repeated("</i>", 1000)).has_error());
  CHECK(reduced(repeated("<div>", 400) + "x").text == "x");
  std::string endless = "<a ";
  for (int i = 0; i < 100'000; ++i) endless += "x" + std::to_string(i) + " ";
  CHECK(reduce_html(endless + ">x").error().context == "HTML with a tag of more than 1000 attributes");
  endless = "<a ";
  for (int i = 0; i < 100'000; ++i) endless += "x" + std::to_string(i) + "='v'";
  CHECK(reduce_html(endless + ">x").has_error());
  // Many words in one attribute's value are no many attributes.
  CHECK(reduced("<a title=\"" + repeated("word ", 5000) + "\">x</a>").text == "x");
  CHECK(reduced("<p>one\0two\x01three"s).text == "one two three");
  CHECK(reduced("<p>x<!-- never closed").text == "x");
  CHECK(reduced("<p>x<a href=\"never closed>y").text == "x");
  CHECK(reduced("<p>x</p></p></div></nothing>y").text == "x\n\ny");
  CHECK(reduced("<p>&#0;&#xD800;&#99999999999;&nosuch; &amp").text == "&nosuch; &amp");
  // Entities that a page declares itself are none in HTML.
  CHECK(reduced("<!DOCTYPE html [<!ENTITY a \"xxxx\"><!ENTITY b \"&a;&a;\"><!ENTITY c SYSTEM \"file:///etc/passwd\">]>"
                "<p>&b;&c;</p>").text.find("root:") == std::string::npos);
}

TEST_CASE("a megabyte of every hostile shape is read in time that grows with its size alone") {
  const std::size_t size = 1 << 20;
  for (const std::string piece : {"<b></i>", "<p>", "<", "<!--", "<a b='", "&", "&amp", "</p>", "<table>", "<td>x",
                                  "<body><html>", "<script>", "<![CDATA[", "<a b=c/d=e/f>", "<!DOCTYPE [", "<?php "}) {
    CAPTURE(piece);
    const auto plain = reduce_html(repeated(piece, size / piece.size()));
    CHECK((plain.has_error() || plain->text.size() <= 2 * size));
  }
}

TEST_CASE("broken pages say nothing on standard error") {
  const TemporaryFolder folder;
  const std::string output = standard_error_of(folder, [] {
    (void)reduce_html("<p <b &#xfffffff; </x></p </body <html a='");
    (void)reduce_html("<a b=c b=d><unknown>&bad;&#;</p>");
  });
  CHECK(output == "");
}

TEST_CASE("pages broken at random never crash, and what comes out is UTF-8") {
  const std::string page = contents(test::source_path("tests/corpus/data/tree/manual/page.html"));
  REQUIRE(page.size() > 500);
  Random random(20);
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const std::string bytes =
        mutated(page, random, {"<", "</", "<!--", "<script>", "&#x", "\"", "<pre>", "]]>", "\xff"});
    const auto plain = reduce_html(decode_text(bytes, declared_encoding(bytes)).text);
    if (!plain) continue;
    REQUIRE(is_valid_utf8(plain->title));
    REQUIRE(is_valid_utf8(plain->text));
  }
}
