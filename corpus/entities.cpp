#include "corpus/entities.hpp"

#include <libxml/HTMLparser.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

namespace hedgerow {

namespace {

// "&thetasym;" is the longest name of HTML 4, "&#x0010ffff;" as long as a number needs to be.
constexpr std::size_t longest_reference = 12;
constexpr std::uint32_t replacement = 0xfffd;

// 128 to 159 in Windows-1252, by the HTML standard's table; 0 where it has none.
constexpr std::uint16_t windows_1252[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

struct OwnName {
  std::string_view name;
  std::uint32_t character;
};
// Of XML, and of the SGML that TREC's collections are in; HTML 4 has none of these.
constexpr OwnName own_names[] = {{"apos", '\''}, {"hyph", '-'},      {"blank", ' '},     {"lsqb", '['},
                                 {"rsqb", ']'},  {"dollar", '$'},    {"percnt", '%'},    {"ast", '*'},
                                 {"plus", '+'},  {"equals", '='},    {"commat", '@'},    {"num", '#'},
                                 {"amacr", 257}, {"cacute", 263},    {"ccaron", 269},    {"ecaron", 283},
                                 {"lstrok", 322}, {"nacute", 324},   {"rcaron", 345},    {"zcaron", 382}};

void append_utf8(std::uint32_t character, std::string& out) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0 | character >> 6);
    put(0x80 | (character & 0x3f));
  } else if (character < 0x10000) {
    put(0xe0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3f));
    put(0x80 | (character & 0x3f));
  } else {
    put(0xf0 | character >> 18);
    put(0x80 | (character >> 12 & 0x3f));
    put(0x80 | (character >> 6 & 0x3f));
    put(0x80 | (character & 0x3f));
  }
}

// "233" or "xE9".
std::optional<std::uint32_t> character_of_number(std::string_view digits) {
  int base = 10;
  if (digits.starts_with('x') || digits.starts_with('X')) {
    base = 16;
    digits.remove_prefix(1);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (number >= 0x80 && number < 0xa0) {
    const std::uint32_t meant = windows_1252[number - 0x80];
    return meant == 0 ? replacement : meant;
  }
  const bool surrogate = number >= 0xd800 && number < 0xe000;
  return number == 0 || surrogate || number > 0x10ffff ? replacement : static_cast<std::uint32_t>(number);
}

std::optional<std::uint32_t> character_of_name(std::string name) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto* own = std::find_if(std::begin(own_names), std::end(own_names),
                                   [&](const OwnName& entry) { return entry.name == name; });
    if (own != std::end(own_names)) return own->character;
    const auto* found = htmlEntityLookup(reinterpret_cast<const xmlChar*>(name.c_str()));
    if (found != nullptr) return found->value;
    for (char& c : name) {
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    }
  }
  return std::nullopt;
}

}  // namespace

void append_resolved(std::string_view text, std::string& out) {
  while (!text.empty()) {
    const std::size_t ampersand = text.find('&');
    out.append(text.substr(0, ampersand));
    if (ampersand == std::string_view::npos) return;
    text.remove_prefix(ampersand);
    const std::size_t semicolon = text.substr(0, longest_reference).find(';');
    std::optional<std::uint32_t> character;
    if (semicolon != std::string_view::npos && semicolon > 1) {
      const std::string_view inside = text.substr(1, semicolon - 1);
      character = inside.front() == '#' ? character_of_number(inside.substr(1)) : character_of_name(std::string(inside));
    }
    if (character) {
      append_utf8(*character, out);
      text.remove_prefix(semicolon + 1);
    } else {
      out.push_back('&');
      text.remove_prefix(1);
    }
  }
}

}  // namespace hedgerow
