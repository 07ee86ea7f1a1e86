// What a document becomes is looked at through Xapian itself.
#include <doctest/doctest.h>

#include <xapian.h>

#include <map>
#include <set>
#include <vector>

#include "index/document_indexer.hpp"
#include "index/fields.hpp"
#include "index/stored_document.hpp"

namespace hedgerow::test {

namespace {

std::map<std::string, Xapian::termcount> frequencies(const Xapian::Document& document) {
  std::map<std::string, Xapian::termcount> found;
  const auto end = document.termlist_end();
  for (auto term = document.termlist_begin(); term != end; ++term) found[*term] = term.get_wdf();
  return found;
}

std::vector<Xapian::termpos> positions(const Xapian::Document& document, const std::string& wanted) {
  const auto end = document.termlist_end();
  for (auto term = document.termlist_begin(); term != end; ++term) {
    if (*term == wanted) return {term.positionlist_begin(), term.positionlist_end()};
  }
  return {};
}

Document tea() {
  Document document;
  document.id = "tea-1";
  document.title = "Green Teas";
  document.text = "Green hills.";
  return document;
}

}  // namespace

TEST_CASE("A word of the title counts title_weight times, and once in the title's own field") {
  DocumentIndexer indexer("english", 3);
  const auto found = frequencies(indexer.index(tea()));
  const std::map<std::string, Xapian::termcount> expected{
      {"green", 4}, {"teas", 3},  {"hills", 1},  {"Zgreen", 4},  {"Ztea", 3},  {"Zhill", 1},
      {"Sgreen", 1}, {"Steas", 1}, {"ZSgreen", 1}, {"ZStea", 1}, {"Qtea-1", 0},
      {"XNtea-1", 1}, {"XNgreen teas", 1}};
  CHECK(found == expected);
}

TEST_CASE("Words have their positions, the title's in its field too, and no phrase reaches from title to text") {
  DocumentIndexer indexer("english", 3);
  const auto document = indexer.index(tea());
  using Positions = std::vector<Xapian::termpos>;
  CHECK(positions(document, "Sgreen") == Positions{1});
  CHECK(positions(document, "Steas") == Positions{2});
  CHECK(positions(document, "teas") == Positions{2});
  const auto green = positions(document, "green");
  REQUIRE(green.size() == 2);
  CHECK(green[0] == 1);
  CHECK(green[1] >= 2 + 50);
  CHECK(positions(document, "hills") == Positions{green[1] + 1});
  CHECK(positions(document, "Zgreen").empty());
}

TEST_CASE("Without a stemmer there are words only") {
  DocumentIndexer indexer("none");
  for (const auto& [term, frequency] : frequencies(indexer.index(tea()))) CHECK(term.front() != 'Z');
}

TEST_CASE("A facet is a term for each value that counts nothing, its values as given, and its first as a number") {
  Document document = tea();
  document.facets = {{"section", {"Editors", "Doc"}},
                     {"year", {"2010", "1999"}},
                     {"date", {"2024-02"}},
                     {"mixed", {"x", "5"}}};
  DocumentIndexer indexer("english");
  const auto indexed = indexer.index(document);
  const auto found = frequencies(indexed);
  for (const char* term : {"XFsection:editors", "XFsection:doc", "XFyear:2010", "XFyear:1999", "XFdate:2024-02",
                           "XFmixed:x", "XFmixed:5"}) {
    CAPTURE(term);
    REQUIRE(found.contains(term));
    CHECK(found.at(term) == 0);
  }
  CHECK(!found.contains("editors"));
  CHECK(indexed.get_value(fields::values_slot("section")) == "\x07" "Editors" "\x03" "Doc");
  CHECK(indexed.get_value(fields::number_slot("section")) == "");
  CHECK(indexed.get_value(fields::values_slot("year")) == "\x04" "2010" "\x04" "1999");
  CHECK(Xapian::sortable_unserialise(indexed.get_value(fields::number_slot("year"))) == 2010);
  CHECK(Xapian::sortable_unserialise(indexed.get_value(fields::number_slot("date"))) == 1706745600);
  CHECK(indexed.get_value(fields::number_slot("mixed")) == "");
  CHECK(indexed.values_count() == 6 + 1);  // and what a list of hits shows
}

TEST_CASE("Facets of odd names and values stay apart, and values that fit no term are counted all the same") {
  Document document = tea();
  std::string growing;
  for (int i = 0; i < 80; ++i) growing += "\u023a";
  const std::string name(64, 'n');
  document.facets = {{"a", {"b:c"}}, {"a:b", {"d"}}, {"title", {"Sir"}}, {"id", {"7"}}, {name, {growing}}};
  DocumentIndexer indexer("english");
  const auto indexed = indexer.index(document);
  const auto found = frequencies(indexed);
  CHECK(found.contains("XFa:b:c"));
  CHECK(!found.contains("XFa:b:d"));
  CHECK(found.contains("XFtitle:sir"));
  CHECK(found.contains("XFid:7"));
  CHECK(!found.contains("Ssir"));
  CHECK(fields::decode_values(indexed.get_value(fields::values_slot(name))) == std::vector{growing});
}

TEST_CASE("Chinese, Japanese and Korean are indexed by characters and pairs") {
  Document document = tea();
  document.title = "東京都";
  document.text = "서울 and 北京";
  DocumentIndexer indexer("english", 2);
  const auto found = frequencies(indexer.index(document));
  for (const char* term : {"東", "東京", "京", "京都", "都", "S東京", "S京", "서울", "北京", "and"}) {
    CAPTURE(term);
    CHECK(found.contains(term));
  }
  CHECK(!found.contains("東京都"));
  CHECK(found.at("東京") == 2);
  CHECK(found.at("S東京") == 1);
}

TEST_CASE("A title of any length is indexed to its end, and shown cut") {
  Document document = tea();
  document.title.clear();
  for (int i = 0; i < 200'000; ++i) document.title += "word ";
  document.title += "last";
  DocumentIndexer indexer("english", 100);
  const auto indexed = indexer.index(document);
  const auto found = frequencies(indexed);
  CHECK(found.at("word") == 20'000'000);
  CHECK(found.at("Sword") == 200'000);
  CHECK(found.contains("Slast"));
  const auto shown = decode_shown_document(indexed.get_value(fields::shown_slot));
  REQUIRE(shown.has_value());
  CHECK(shown->title == document.title.substr(0, 2048));
  CHECK(indexed.get_data().size() < 4000);
}

TEST_CASE("Every term fits into an index, whatever the document holds") {
  Document document;
  document.id = std::string(1024, 'i');
  document.title = std::string(5000, 'w') + " \xf0\x9f\xa6\x94 it's AT&T U.S.A. C++ c# naïve ŻÓŁĆ 12345678901234567890 _x_ ";
  document.text = std::string(64, 'x') + " " + std::string(65, 'y') + " '' -- \t\n\r ﬁne \u0130stanbul";
  document.facets = {{std::string(64, 'n'), {std::string(160, 'V'), "\xf0\x9f\xa6\x94"}}};
  DocumentIndexer indexer("english", 5);
  const auto indexed = indexer.index(document);
  for (const auto& [term, frequency] : frequencies(indexed)) {
    CAPTURE(term);
    CHECK(!term.empty());
    CHECK(term.size() <= 245);
  }
  Xapian::WritableDatabase database("", Xapian::DB_BACKEND_INMEMORY);
  CHECK_NOTHROW(database.replace_document(7, indexed));
}

}  // namespace hedgerow::test
