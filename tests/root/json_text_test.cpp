// Expected texts are by hand, from RFC 8259.

#include "root/json_text.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace hedgerow::root {

using namespace std::string_literals;

namespace {

template <class Value>
std::string written(const Value& value) {
  JsonText text;
  text.value(value);
  return std::string(text.text());
}

}  // namespace

TEST_CASE("values as JSON") {
  CHECK(written(true) == "true");
  CHECK(written(false) == "false");
  CHECK(written(std::uint32_t{0}) == "0");
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(written(0.1) == "0.1");
  CHECK(written(250.0) == "250.0");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "null");
  CHECK(written("näno \"tiny\" \\ </script>") == R"("näno \"tiny\" \\ </script>")");
  CHECK(written("a\nb\0c\x1f"s) == R"("a\nb\u0000c\u001F")");
}

TEST_CASE("every double comes back as itself") {
  for (const double number : {1.0 / 3, 5e-324, 1.7976931348623157e308, 6.02214076e23, 12.346, 0.9999999999999999}) {
    CHECK(nlohmann::json::parse(written(number)).get<double>() == number);
  }
}

TEST_CASE("what is not UTF-8 is replaced, so that the text is JSON whatever an index holds") {
  CHECK(written("ab\xff" "c") == "\"ab\uFFFDc\"");
  CHECK(written("\xed\xa0\x80") == "\"\uFFFD\uFFFD\uFFFD\"");  // a surrogate, as Python's decoder has it
  CHECK(nlohmann::json::accept(written("\xc3")));
}

TEST_CASE("objects and arrays stand in the order of their writing") {
  JsonText text;
  text.object([&] {
    text.member("b", std::uint32_t{1});
    text.array("a", [&] {
      text.value("x");
      text.object([] {});
      text.array([] {});
    });
    text.object("c", [&] { text.member("d", 0.5); });
  });
  CHECK(text.text() == R"({"b":1,"a":["x",{},[]],"c":{"d":0.5}})");
}

}  // namespace hedgerow::root
