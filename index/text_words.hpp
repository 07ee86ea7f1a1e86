// The words of a text with their places, as the engine's indexer finds them (Xapian 1.4's TermGenerator, with n-grams for
// Chinese, Japanese and Korean). The engine tells no places in the text, so its rules are written down here again; a test
// holds the two together for every character of Unicode.
//
// Pure. A WordReader points into the text that it was given.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hedgerow {

struct TextWord {
  std::string term;       // in lower case, as it stands in the index; may be longer than the indexer takes
  std::size_t begin = 0;  // in bytes of the text
  std::size_t end = 0;
  // A single character of a script that is written without blanks. Two of them side by side (the end of one is the begin
  // of the next) are a term as well.
  bool is_ideograph = false;
};

// The indexer leaves longer ones out.
inline constexpr std::size_t longest_word_bytes = 64;

class WordReader {
 public:
  // text: well-formed UTF-8.
  explicit WordReader(std::string_view text) : text_(text) {}

  // The next word; false at the end. word is overwritten.
  bool next(TextWord& word);

 private:
  bool skip_to_word();
  bool read_acronym(TextWord& word);
  void read_suffix(TextWord& word);

  std::string_view text_;
  std::size_t at_ = 0;
  bool within_ideographs_ = false;
  std::string left_over_;  // "a'" of "a'中 b", which the indexer puts before the b
};

// Whether the word can stand before or behind others without a blank in between.
bool is_ideograph(char32_t character);

// The character that begins at the place (below the size), and where the next one begins.
struct CharacterAt {
  char32_t character = 0;
  std::size_t next = 0;
};
CharacterAt character_at(std::string_view text, std::size_t place);
bool is_word_character(char32_t character);

// Whether the indexer takes the stem of the word: not of one that begins with a digit, say.
bool has_stem(std::string_view term);

}  // namespace hedgerow
