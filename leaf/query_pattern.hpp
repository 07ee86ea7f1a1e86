// Which queries a fault meets, by what stands in them: a few patterns with blanks between, each of which must be met by a
// term of the query. Pure.
//
//   deadly              the word (its stem, where the query was stemmed)
//   dead* s?ow          words, or stems, that look so: * is any text, ? one byte, [ab] one of them
//   title:vi*           a word that is looked for in titles
//   section:edit*       a facet that is asked for
//   -harmless           not where a term is met by this
//
// Leaves know a query by its terms alone: nobody sees here how they are connected, nor what stop words were left out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace hedgerow::leaf {

class QueryPattern {
 public:
  // A word in lower case to its stem, as the index has it.
  using Stem = std::function<std::string(const std::string&)>;

  // Errors: invalid_argument for nothing, for a pattern of nothing, and beyond 1,000 bytes.
  static result<QueryPattern> parse(std::string_view text);

  // terms: as the query plan names them, see index/fields.
  bool matches(const std::vector<std::string>& terms, const Stem& stem) const;
  const std::string& text() const { return text_; }

 private:
  struct Part {
    bool excluded = false;
    bool wild = false;
    std::string prefix;  // of its terms; empty: of words of the text
    std::string look;    // in lower case
    bool stemmed = true; // there are stems of such terms
  };
  static bool meets(const Part& part, const std::string& term, const std::string& stem);

  std::string text_;
  std::vector<Part> parts_;
};

// Whether a word of the text is among the terms, as it is written or by its stem.
bool has_word(const std::vector<std::string>& terms, std::string_view word, const QueryPattern::Stem& stem);

}  // namespace hedgerow::leaf
