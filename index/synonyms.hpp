// Synonyms from a file: words and word sequences that are looked for in each other's place.
//
//   # a comment
//   car, automobile, "motor car"        each finds the others, too
//   tv => television, "television set"  who looks for tv finds the others, too, but not the other way round
//
// UTF-8, a line an entry; letters' case makes no difference; quotes are needed only around a comma or a "=>". Words are
// compared by their stems where the query's are stemmed, and as they are where they are not ("quoted").
//
// Read once, then constant: may be shared between threads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"

namespace hedgerow {

class Synonyms {
 public:
  static constexpr std::size_t largest_file_bytes = 2 << 20;
  static constexpr std::size_t most_words = 8;          // of one expression
  static constexpr std::size_t most_alternatives = 64;  // of one expression

  // A word or a sequence of words, in lower case, as they are indexed.
  using Expression = std::vector<std::string>;

  // stemmer: that of the index. Errors: not_found, io, too_large (the file), input (names the file and the line).
  static result<Synonyms> load(const std::filesystem::path& file, const std::string& stemmer);
  // The same from text; name is what errors call it.
  static result<Synonyms> parse(std::string_view text, const std::string& name, const std::string& stemmer);

  // What else stands for an expression, in the order of the file; null where nothing does. Each of the terms is a word,
  // or "Z" and a stem.
  const std::vector<Expression>* alternatives(const std::vector<std::string>& terms) const;

  // The number of words of the longest expression that has alternatives.
  std::size_t longest() const { return longest_; }
  // How many expressions of the file have alternatives.
  std::size_t size() const { return size_; }

 private:
  std::unordered_map<std::string, std::vector<Expression>> alternatives_;  // by its terms with blanks between
  std::size_t longest_ = 0;
  std::size_t size_ = 0;
};

}  // namespace hedgerow
