// The passage of a text that speaks most of a query, as HTML.
//
// Every distinct term of the query that a passage speaks counts once, by its weight in the whole collection; of all
// passages of the wanted length the one with the highest sum is taken, of several those whose words stand closest
// together, of these the first. So the passage depends on the text and the query alone.
//
// Pure, and bounded by the length of the text. One QueryWords per thread (a stemmer is not shared).
#pragma once

#include <xapian.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "index/text_words.hpp"

namespace hedgerow {

// The text as it can be shown: well-formed, every run of blanks, control characters and characters that turn the
// direction of writing around is one blank, and none at either end.
std::string shown_text(std::string_view text);

// Everything that could mean something to HTML as an entity: safe as an element's content and in a quoted attribute.
void append_escaped(std::string& html, std::string_view text);

// What a query looks for in a text.
class QueryWords {
 public:
  static constexpr std::size_t most_terms_of_word = 2;  // itself and its stem

  struct Term {
    std::size_t number = 0;    // below size()
    std::uint64_t weight = 0;  // at least 1
  };
  struct Spoken {
    std::size_t count = 0;
    Term terms[most_terms_of_word];
  };

  explicit QueryWords(const std::string& stemmer) : stemmer_(stemmer) {}

  // A term as it stands in the index: a word, or "Z" and a stem; of the title ("S", "ZS") it counts as one of the text.
  // Other terms (facets, ids) are passed over. The highest weight of a term counts.
  void add(std::string_view term, double weight);

  std::size_t size() const { return size_; }
  std::uint64_t total_weight() const { return total_weight_; }

  // Which terms of the query the word of a text speaks.
  Spoken spoken_by(const TextWord& word);
  // The same for two ideographs side by side.
  Spoken spoken_by_pair(const std::string& pair);

 private:
  using Terms = std::unordered_map<std::string, Term>;

  Spoken look_up(const TextWord& word);

  Xapian::Stem stemmer_;
  Terms words_;
  Terms stems_;
  std::unordered_set<std::string> parts_of_pairs_;  // ideographs that the query holds in a pair
  std::unordered_map<std::string, Spoken> known_;   // the text's words, as far as they were looked up
  std::size_t size_ = 0;
  std::uint64_t total_weight_ = 0;
};

// length_bytes: of the text that is shown, at most; marks, entities and ellipses come on top. Words of the query stand in
// <b>…</b>. The start of the text if it speaks no word of the query. Nothing if *stop (may be null) became true.
std::optional<std::string> best_passage(std::string_view text, QueryWords& query, std::size_t length_bytes,
                                        const std::atomic<bool>* stop);

}  // namespace hedgerow
