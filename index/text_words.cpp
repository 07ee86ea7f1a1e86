#include "index/text_words.hpp"

#include <xapian.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hedgerow {

namespace {

constexpr char32_t no_character = 0xffff'ffff;
constexpr char32_t left_out = 0xffff'fffe;  // zero-width: it joins two parts of a word and is no part of it

// Nearly all characters of nearly all texts, without a call into the engine.
struct AsciiTable {
  std::array<bool, 128> is_word{};
  std::array<char, 128> lower{};

  AsciiTable() {
    for (unsigned c = 0; c < 128; ++c) {
      is_word[c] = Xapian::Unicode::is_wordchar(c);
      lower[c] = static_cast<char>(Xapian::Unicode::tolower(c));
    }
  }
};

const AsciiTable ascii;

void append_lower(std::string& term, char32_t character) {
  if (character < 128) {
    term += ascii.lower[character];
  } else {
    Xapian::Unicode::append_utf8(term, Xapian::Unicode::tolower(character));
  }
}

bool is_ascii_upper(char32_t character) { return character >= 'A' && character <= 'Z'; }

bool is_digit(char32_t character) {
  return Xapian::Unicode::get_category(character) == Xapian::Unicode::DECIMAL_DIGIT_NUMBER;
}

bool is_zero_width(char32_t character) {
  return (character >= 0x200b && character <= 0x200d) || character == 0x2060 || character == 0xfeff;
}

// What a character between two parts of a word becomes in the word: AT&T, l'été.
char32_t infix_between_letters(char32_t character) {
  switch (character) {
    case '\'':
    case '&':
    case 0xb7:
    case 0x5f4:
    case 0x2027: return character;
    case 0x2019:
    case 0x201b: return '\'';
    default: return is_zero_width(character) ? left_out : no_character;
  }
}

// The same between two digits: 3.14, 1,000.
char32_t infix_between_digits(char32_t character) {
  switch (character) {
    case ',':
    case '.':
    case ';':
    case 0x037e:
    case 0x0589:
    case 0x060d:
    case 0x07f8:
    case 0x2044:
    case 0xfe10:
    case 0xfe13:
    case 0xfe14: return character;
    default: return is_zero_width(character) ? left_out : no_character;
  }
}

}  // namespace

bool is_ideograph(char32_t c) {
  return c >= 0x2e80 && ((c <= 0x2eff) || (c >= 0x3000 && c <= 0x9fff) || (c >= 0xa700 && c <= 0xa71f) ||
                         (c >= 0xac00 && c <= 0xd7af) || (c >= 0xf900 && c <= 0xfaff) || (c >= 0xfe30 && c <= 0xfe4f) ||
                         (c >= 0xff00 && c <= 0xffef) || (c >= 0x20000 && c <= 0x2a6df) ||
                         (c >= 0x2f800 && c <= 0x2fa1f));
}

bool is_word_character(char32_t character) {
  return character < 128 ? ascii.is_word[character] : Xapian::Unicode::is_wordchar(character);
}

CharacterAt character_at(std::string_view text, std::size_t place) {
  const auto byte = [&](std::size_t i) {
    return place + i < text.size() ? static_cast<unsigned char>(text[place + i]) & 0x3fu : 0u;
  };
  const auto lead = static_cast<unsigned char>(text[place]);
  if (lead < 0x80) return {lead, place + 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  char32_t character = lead & (0xffu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) character = character << 6 | byte(i);
  return {character, std::min(place + length, text.size())};
}

bool has_stem(std::string_view term) {
  constexpr unsigned letters = 1u << Xapian::Unicode::LOWERCASE_LETTER | 1u << Xapian::Unicode::TITLECASE_LETTER |
                               1u << Xapian::Unicode::MODIFIER_LETTER | 1u << Xapian::Unicode::OTHER_LETTER;
  if (term.empty()) return false;
  return (letters >> Xapian::Unicode::get_category(character_at(term, 0).character) & 1u) != 0;
}

bool WordReader::skip_to_word() {
  while (at_ < text_.size()) {
    const auto [character, next] = character_at(text_, at_);
    if (is_word_character(character)) return true;
    at_ = next;
  }
  return false;
}

// P.T.O., U.N.C.L.E: the dots are no part of the word.
bool WordReader::read_acronym(TextWord& word) {
  std::size_t at = at_;
  if (!is_ascii_upper(static_cast<unsigned char>(text_[at]))) return false;
  do {
    word.term += ascii.lower[static_cast<unsigned char>(text_[at])];
    word.end = ++at;
    if (at == text_.size() || text_[at] != '.') break;
    ++at;
  } while (at < text_.size() && is_ascii_upper(static_cast<unsigned char>(text_[at])));
  // One letter is none; nor is what goes on with a small letter or a digit.
  if (word.term.size() > 1 && (at == text_.size() || !is_word_character(character_at(text_, at).character))) {
    at_ = at;
    return true;
  }
  word.term.clear();
  return false;
}

// C++, C#: up to three of them, unless a word follows at once (fish+chips).
void WordReader::read_suffix(TextWord& word) {
  const std::size_t length = word.term.size();
  std::size_t count = 0;
  while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '#')) {
    if (++count > 3) break;
    word.term += text_[at_];
    word.end = ++at_;
  }
  const bool followed = at_ < text_.size() && is_word_character(character_at(text_, at_).character);
  if (count > 3 || followed) {
    word.end -= word.term.size() - length;
    word.term.resize(length);
  }
}

bool WordReader::next(TextWord& word) {
  word.is_ideograph = false;
  if (!skip_to_word()) return false;
  // Right behind ideographs the indexer looks for no acronym.
  const bool acronym_possible = !std::exchange(within_ideographs_, false);
  word.term.clear();
  word.begin = at_;
  if (acronym_possible && read_acronym(word)) return true;

  for (;;) {
    const char32_t first = character_at(text_, at_).character;
    if (is_ideograph(first)) {
      left_over_ += word.term;
      word.term.clear();
      word.begin = at_;
      at_ = word.end = character_at(text_, at_).next;
      word.term.assign(text_, word.begin, word.end - word.begin);
      word.is_ideograph = within_ideographs_ = true;
      return true;
    }
    if (!left_over_.empty()) {
      word.term.insert(0, left_over_);
      left_over_.clear();
    }
    char32_t previous = first;
    for (;;) {
      const auto [character, next] = character_at(text_, at_);
      if (!is_word_character(character)) break;
      append_lower(word.term, character);
      previous = character;
      at_ = word.end = next;
      if (at_ == text_.size() || is_ideograph(character_at(text_, at_).character)) return true;
    }
    // Another part of the word may follow behind one character.
    const auto [infix, behind] = character_at(text_, at_);
    if (behind == text_.size()) break;
    const char32_t following = character_at(text_, behind).character;
    if (!is_word_character(following)) break;
    const char32_t joint = is_digit(previous) && is_digit(following) ? infix_between_digits(infix)
                                                                     : infix_between_letters(infix);
    if (joint == no_character) break;
    if (joint != left_out) Xapian::Unicode::append_utf8(word.term, joint);
    at_ = behind;
  }
  read_suffix(word);
  return true;
}

}  // namespace hedgerow
