#include "index/text_words.hpp"

#include <doctest/doctest.h>
#include <xapian.h>

#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"

namespace hedgerow::test {

namespace {

struct IndexedText {
  std::vector<std::string> words;  // in the order of their positions
  std::set<std::string> others;    // pairs of ideographs, and stems

  friend bool operator==(const IndexedText&, const IndexedText&) = default;
};

doctest::String toString(const IndexedText& indexed) {
  std::string text;
  for (const auto& word : indexed.words) text += "[" + word + "]";
  text += " and";
  for (const auto& other : indexed.others) text += " [" + other + "]";
  return text.c_str();
}

const Xapian::Stem& english() {
  static const Xapian::Stem stem("english");
  return stem;
}

IndexedText by_engine(const std::string& text) {
  Xapian::TermGenerator generator;
  Xapian::Document document;
  generator.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
  generator.set_stemmer(english());
  generator.set_document(document);
  generator.index_text(text);
  std::map<Xapian::termpos, std::string> words;
  IndexedText indexed;
  for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
    bool has_position = false;
    for (auto position = term.positionlist_begin(); position != term.positionlist_end(); ++position) {
      words[*position] = *term;
      has_position = true;
    }
    if (!has_position) indexed.others.insert(*term);
  }
  for (const auto& [position, word] : words) indexed.words.push_back(word);
  return indexed;
}

IndexedText by_reader(const std::string& text) {
  IndexedText indexed;
  WordReader reader(text);
  TextWord word;
  TextWord before;
  const auto add_stem = [&](const std::string& term) {
    if (has_stem(term) && !english()(term).empty()) indexed.others.insert("Z" + english()(term));
  };
  while (reader.next(word)) {
    if (word.is_ideograph && before.is_ideograph && before.end == word.begin) {
      indexed.others.insert(before.term + word.term);
      add_stem(before.term + word.term);
    }
    if (word.term.size() <= longest_word_bytes) {
      indexed.words.push_back(word.term);
      add_stem(word.term);
    }
    before = word;
  }
  return indexed;
}

}  // namespace

TEST_CASE("A text's words are those that the engine's indexer finds, for every character of Unicode") {
  std::string text;
  for (unsigned character = 1; character <= 0x10ffff; character += character < 0x30000 ? 1 : 61) {
    if (character >= 0xd800 && character <= 0xdfff) continue;
    std::string c;
    Xapian::Unicode::append_utf8(c, character);
    text += "a" + c + "b - 1" + c + "2 - " + c + " - A." + c + ".B - c" + c + " - \xe4\xb8\xad" + c + "\xe5\x9b\xbd - " + c +
            "#" + c + "\n-\n";
    if (character % 512 != 0) continue;
    const auto engine = by_engine(text);
    const auto reader = by_reader(text);
    // Telling all of it would be a long message.
    const bool equal = engine == reader;
    CAPTURE(character);
    CHECK(equal);
    text.clear();
  }
}

TEST_CASE("A text's words are those that the engine's indexer finds, whatever stands side by side") {
  const std::vector<std::string> pieces{
      "a", "Bc", "É", "\xe4\xb8\xad", "\xe5\x9b\xbd", "\xef\xbc\xa1", "\xe3\x80\x82", "'", "&", "\xe2\x80\x99", ".", ",", "1", "23",
      "\xe0\xa5\xa8", "+", "#", " ", "\n", "\xe2\x80\x8b", "\xef\xbb\xbf", "\xcc\x81", "-", "A.", "U.", "ing", std::string(61, 'x'),
      "\xf0\x9f\x98\x80", "\xed\x95\x9c"};
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (std::uint64_t n = 1 + random.below(14); n > 0; --n) text += pieces[random.below(pieces.size())];
    CAPTURE(text);
    REQUIRE(by_reader(text) == by_engine(text));
  }
}

TEST_CASE("A word's place is where it stands in the text, whatever became of its letters") {
  const std::string text = "Caf\xc3\x89s, AT&T's U.N. C++ \xe4\xb8\xad\xe5\x9b\xbd";
  std::vector<std::string> places;
  WordReader reader(text);
  for (TextWord word; reader.next(word);) places.push_back(text.substr(word.begin, word.end - word.begin));
  CHECK(places == std::vector<std::string>{"Caf\xc3\x89s", "AT&T's", "U.N", "C++", "\xe4\xb8\xad", "\xe5\x9b\xbd"});
}

}  // namespace hedgerow::test
