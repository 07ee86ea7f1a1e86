// A word that says what a document is about, and how often the document says it.
#pragma once

#include <cstdint>
#include <string>

namespace hedgerow {

struct DocumentTerm {
  std::string term;  // a stem ("Z…"); a word where the index has no stemmer
  std::uint32_t count = 0;  // how often the document holds it, title words by their weight
};

}  // namespace hedgerow
