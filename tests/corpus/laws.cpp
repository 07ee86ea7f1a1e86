#include "tests/corpus/laws.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/utf8.hpp"

namespace hedgerow::test {

namespace {

bool is_sound_text(std::string_view text) {
  const bool controls = std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  });
  return is_valid_utf8(text) && !controls;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

}  // namespace

void check_promises(const Everything& all) {
  std::set<std::string> ids;
  for (const Document& document : all.documents) {
    CAPTURE(document.id);
    REQUIRE(is_sound_text(document.id));
    REQUIRE(document.id.find_first_of("\t\r\n") == std::string::npos);
    REQUIRE(!is_blank(document.id));
    REQUIRE(document.id.size() <= 1024);
    REQUIRE(ids.insert(document.id).second);
    REQUIRE(is_sound_text(document.title));
    REQUIRE(is_sound_text(document.url));
    REQUIRE(is_sound_text(document.text));
    REQUIRE(!(is_blank(document.title) && is_blank(document.text)));
    for (const auto& [name, values] : document.facets) {
      REQUIRE((!is_blank(name) && name.size() <= 64 && is_sound_text(name)));
      REQUIRE(!values.empty());
      REQUIRE(std::set<std::string>(values.begin(), values.end()).size() == values.size());
      for (const std::string& value : values) REQUIRE((!value.empty() && value.size() <= 160 && is_sound_text(value)));
    }
  }
}

std::string mutated(std::string_view bytes, Random& random, const std::vector<std::string_view>& words) {
  std::string text(bytes);
  const auto place = [&] { return random.below(text.size() + 1); };
  for (std::uint64_t changes = 1 + random.below(8); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = place();
    const std::size_t length = 1 + random.below(40);
    switch (random.below(6)) {
      case 0:
        for (std::size_t i = at; i < std::min(at + length, text.size()); ++i) {
          text[i] = static_cast<char>(random.next());
        }
        break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(at, length)); break;
      case 3: text.insert(at, text.substr(place(), length)); break;
      case 4:
        if (random.chance(0.3)) text.resize(at);
        break;
      default: text.insert(at, words[random.below(words.size())]);
    }
  }
  return text;
}

}  // namespace hedgerow::test
