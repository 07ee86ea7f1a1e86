#include "base/utf8.hpp"

#include <doctest/doctest.h>

using namespace std::string_literals;

// The expected texts are those of Python's bytes.decode("utf-8", "replace").
TEST_CASE("every maximal ill-formed part becomes one U+FFFD, and well-formed text stays as it is") {
  struct Row {
    std::string bytes;
    std::string repaired;
    std::size_t replacements;
  };
  const Row rows[] = {
      {"", "", 0},
      {"plain", "plain", 0},
      {"gr\303\274n \342\202\254 \360\237\214\263", "gr\303\274n \342\202\254 \360\237\214\263", 0},
      {"\357\277\275", "\357\277\275", 0},
      {"a\0b"s, "a\0b"s, 0},
      {"a\377b", "a\357\277\275b", 1},
      {"\300\200", "\357\277\275\357\277\275", 2},                                  // overlong NUL
      {"\340\200\257", "\357\277\275\357\277\275\357\277\275", 3},                  // overlong slash
      {"\355\240\200", "\357\277\275\357\277\275\357\277\275", 3},                  // a surrogate
      {"\364\220\200\200", "\357\277\275\357\277\275\357\277\275\357\277\275", 4},  // beyond U+10FFFF
      {"\360\237\214", "\357\277\275", 1},                                          // cut off
      {"\360\237\214x", "\357\277\275x", 1},
      {"\342\202", "\357\277\275", 1},
      {"caf\351 au lait", "caf\357\277\275 au lait", 1},                            // Latin-1
      {"\200\277", "\357\277\275\357\277\275", 2},
      {"\365\200", "\357\277\275\357\277\275", 2},
      {"\361\200\200\303\251", "\357\277\275\303\251", 1},
      {"0123456789\344bc", "0123456789\357\277\275bc", 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    CHECK(hedgerow::is_valid_utf8(row.bytes) == (row.replacements == 0));
    std::string text = row.bytes;
    CHECK(hedgerow::repair_utf8(text) == row.replacements);
    CHECK(text == row.repaired);
  }
}

TEST_CASE("a bad byte is found wherever it stands among the eight that are looked at together") {
  for (std::size_t at = 0; at < 24; ++at) {
    std::string text(24, 'x');
    text[at] = '\xe9';
    CAPTURE(at);
    CHECK_FALSE(hedgerow::is_valid_utf8(text));
    CHECK(hedgerow::repair_utf8(text) == 1);
    CHECK(text == std::string(at, 'x') + "\357\277\275" + std::string(23 - at, 'x'));
  }
}
