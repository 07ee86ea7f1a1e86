// From a document to what Xapian indexes: words and stems of title and text with positions, and the data to show.
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
  explicit DocumentIndexer(const std::string& stemmer);

  Xapian::Document index(const Document& document);

 private:
  Xapian::TermGenerator generator_;
};

// About how much memory a Xapian writer holds for the document until it is committed, in bytes.
std::uint64_t memory_held_for(const Xapian::Document& document);

}  // namespace hedgerow
