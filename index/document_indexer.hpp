// From a document to what Xapian indexes: words and stems of title and text with positions, facets as terms and values,
// the id's term, and the data to show. index/fields.hpp says how each becomes a term.
//
// Text in Chinese, Japanese or Korean, which has no spaces, is indexed by its characters and pairs of characters.
//
// Owned by one thread. Words longer than 64 bytes are left out (the engine's habit, and below its limit for a term), so
// they are never found; everything else of a document of any size is indexed.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <string>

#include "corpus/document.hpp"

namespace hedgerow {

class DocumentIndexer {
 public:
  // stemmer: a Xapian language; throws Xapian::InvalidArgumentError for one that Xapian does not know.
  // title_weight: how often a word of the title counts, from 1.
  explicit DocumentIndexer(const std::string& stemmer, std::uint32_t title_weight = 1);

  Xapian::Document index(const Document& document);

 private:
  Xapian::TermGenerator generator_;
  std::uint32_t title_weight_;
};

// About how much memory a Xapian writer holds for the document until it is committed, in bytes.
std::uint64_t memory_held_for(const Xapian::Document& document);

}  // namespace hedgerow
