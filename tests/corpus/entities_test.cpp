#include "corpus/entities.hpp"

#include <doctest/doctest.h>

using namespace hedgerow;

TEST_CASE("character references become their characters, once, and what is none stays as it is") {
  struct Row {
    std::string text, resolved;
  };
  const Row rows[] = {
      {"AT&amp;T", "AT&T"},
      {"&lt;b&gt; &quot;x&quot; &apos;", "<b> \"x\" '"},
      {"&amp;lt;", "&lt;"},
      {"&AMP;&Lt;", "&<"},
      {"&eacute;&Eacute;&szlig;", "\u00e9\u00c9\u00df"},
      {"&#233;&#xE9;&#Xe9;", "\u00e9\u00e9\u00e9"},
      {"&#x1F600;", "\U0001F600"},
      {"&#146;&#x80;", "\u2019\u20ac"},           // Windows-1252, by the HTML standard
      {"&#0;&#xD800;&#x110000;", "\ufffd\ufffd\ufffd"},
      {"co&hyph;operate", "co-operate"},
      {"R&D; AT&T & co; &;&#;&#x;&#12a;", "R&D; AT&T & co; &;&#;&#x;&#12a;"},
      {"&nosuchname; &amp", "&nosuchname; &amp"},
      {"&&amp;", "&&"},
      {"&#99999999999999999999;", "&#99999999999999999999;"},
      {"", ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    std::string out;
    append_resolved(row.text, out);
    CHECK(out == row.resolved);
  }
}
