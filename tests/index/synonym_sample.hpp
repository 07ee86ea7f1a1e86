// A synonyms file made of given words, and what it means for the reference.
#pragma once

#include <string>
#include <vector>

#include "reference_language.hpp"

namespace hedgerow::test {

struct SynonymSample {
  std::string text;  // as docs/queries.md describes it
  std::vector<ReferenceSynonym> meaning;
  std::vector<std::string> words;  // that have synonyms; some are several words
};

// Takes at most `most` of the words, those of small letters with stems of their own.
SynonymSample sample_synonyms(const std::vector<std::string>& words, std::size_t most, const std::string& stemmer);

}  // namespace hedgerow::test
