#include <doctest/doctest.h>

#include <array>
#include <map>

#include "base/sha256.hpp"
#include "index/fields.hpp"

namespace hedgerow::test {

TEST_CASE("An id is the term Q and itself, and its hash where that would be too long") {
  CHECK(fields::id_term("doc-1") == "Qdoc-1");
  CHECK(fields::id_term("Ünïcode id") == "QÜnïcode id");
  const std::string longest(244, 'x');
  CHECK(fields::id_term(longest) == "Q" + longest);
  // printf 'x%.0s' $(seq 245) | sha256sum
  CHECK(fields::id_term(longest + "x") == "Q#" + sha256_of(longest + "x"));
  CHECK(fields::id_term(longest + "x").size() == 66);
}

TEST_CASE("A name is one term, whatever its case and its blanks, and blank and endless ones are none") {
  CHECK(fields::name_term("vim") == "XNvim");
  CHECK(fields::name_term(" The\t Matrix\n") == "XNthe matrix");
  CHECK(fields::name_term("ÉTÉ") == "XNété");
  CHECK_FALSE(fields::name_term("").has_value());
  CHECK_FALSE(fields::name_term(" \n").has_value());
  CHECK(fields::name_term(std::string(200, 'a')).has_value());
  CHECK_FALSE(fields::name_term(std::string(201, 'a')).has_value());
}

TEST_CASE("A facet's term is in lower case, and no two facets share one") {
  CHECK(fields::facet_term_prefix("section") == "XFsection:");
  CHECK(fields::facet_term("section", "Editors") == "XFsection:editors");
  CHECK(fields::facet_term("Section", "ÄÖÜ Straße") == "XFSection:äöü straße");
  CHECK(fields::facet_term("role", "") == "XFrole:");
  CHECK(fields::facet_term("a", "b:c") != fields::facet_term("a:b", "c"));
  CHECK(fields::facet_term("a", "b:c") == "XFa:b:c");
  const std::string name(64, 'n');
  CHECK(fields::facet_term(name, std::string(160, 'v')).has_value());
  // U+023A has two bytes, its lower case U+2C65 three.
  std::string growing;
  for (int i = 0; i < 80; ++i) growing += "\u023a";
  CHECK(growing.size() == 160);
  CHECK(!fields::facet_term(name, growing).has_value());
}

TEST_CASE("Lower case is Unicode's, and bytes that are no UTF-8 survive") {
  CHECK(fields::in_lower_case("Größe ΑΒΓ ЖИЗНЬ 東京 I") == "größe αβγ жизнь 東京 i");
  CHECK(fields::in_lower_case("") == "");
  CHECK_NOTHROW(fields::in_lower_case("\xff\xc3"));
}

TEST_CASE("A facet's slots are even for its values, odd for its number, and the same for ever") {
  for (const char* name : {"section", "year", "", "née"}) {
    CHECK(fields::values_slot(name) % 2 == 0);
    CHECK(fields::number_slot(name) == fields::values_slot(name) + 1);
    CHECK(fields::number_slot(name) <= 0x7fffffffu);
  }
  CHECK(fields::values_slot("section") != fields::values_slot("year"));
}

TEST_CASE("A slot of values is each value behind its length, and reads back") {
  using Values = std::vector<std::string>;
  CHECK(fields::encode_values({}) == "");
  CHECK(fields::encode_values({"ab", "c"}) == "\x02" "ab" "\x01" "c");
  for (const Values& values : {Values{}, Values{"one"}, Values{"Editors", "text: \x02 odd", std::string(160, 'v')},
                               Values{std::string(255, 'w'), "é"}}) {
    CHECK(fields::decode_values(fields::encode_values(values)) == values);
  }
  // What no document has is left out.
  CHECK(fields::decode_values(fields::encode_values({"", "a", std::string(256, 'x'), "b"})) == Values{"a", "b"});
}

TEST_CASE("A slot that is cut off or foreign ends, and is never read beyond") {
  using Values = std::vector<std::string>;
  CHECK(fields::decode_values("\x05" "abc") == Values{});
  CHECK(fields::decode_values("\x01" "a" "\x03" "bc") == Values{"a"});
  CHECK(fields::decode_values("\xff") == Values{});
  CHECK(fields::decode_values(std::string_view("\0\0\0", 3)) == Values{});
  std::string_view rest = "\x01" "a" "\x03" "bc";
  CHECK(fields::take_value(rest) == "a");
  CHECK(fields::take_value(rest) == "");
  CHECK(rest.empty());
}

TEST_CASE("Numbers and dates are read as ranges of what they may mean") {
  using fields::ValueKind;
  struct Row {
    const char* text;
    ValueKind kind;
    double first;
    double last;
  };
  // Seconds by: date -u -d '2024-02-29 00:00' +%s
  const Row rows[] = {{"42", ValueKind::number, 42, 42},
                      {"-1.5", ValueKind::number, -1.5, -1.5},
                      {"2024", ValueKind::number, 2024, 2024},
                      {"0", ValueKind::number, 0, 0},
                      {"2024-02", ValueKind::date, 1706745600, 1709251199},
                      {"2023-12", ValueKind::date, 1701388800, 1704067199},
                      {"2024-02-29", ValueKind::date, 1709164800, 1709251199},
                      {"1970-01-01", ValueKind::date, 0, 86399},
                      {"1969-12-31", ValueKind::date, -86400, -1},
                      {"2024-02-29T12:00:00Z", ValueKind::date, 1709208000, 1709208000},
                      {"2024-02-29T12:00:00", ValueKind::date, 1709208000, 1709208000},
                      {"2024-02-29 12:00", ValueKind::date, 1709208000, 1709208059}};
  for (const Row& row : rows) {
    CAPTURE(row.text);
    const auto value = fields::parse_range_value(row.text);
    REQUIRE(value.has_value());
    CHECK(value->kind == row.kind);
    CHECK(value->first == row.first);
    CHECK(value->last == row.last);
  }
  for (const char* text : {"", " ", "x", "4 2", "42x", "1e5", "nan", "inf", "-", "2024-", "2024-13", "2024-00",
                           "2023-02-29", "2024-02-30", "2024-2-9", "2024-02-29T", "2024-02-29T24:00:00",
                           "2024-02-29T12:60:00", "2024-02-29T12:00:00+01:00", "2024-02-29X12:00:00",
                           "2024-02-29T12.00.00", "24-02-29", "2024/02/29", "2024-02-29Z12", "+5", "0x10"}) {
    CAPTURE(text);
    CHECK(!fields::parse_range_value(text).has_value());
  }
}

}  // namespace hedgerow::test
