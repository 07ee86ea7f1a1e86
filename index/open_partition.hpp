// The inside of a PartitionSearcher, for the works of a leaf on a partition: search, snippets, facets, lookup.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "index/scoring.hpp"
#include "index/searcher.hpp"

namespace hedgerow {

struct PartitionSearcher::Implementation {
  Xapian::Database database;
  std::string name;
  Generation generation;
  std::string stemmer;  // of the index
  std::uint32_t documents = 0;  // without the guards
  std::uint64_t collection_documents = 0;
  Bm25Parameters bm25;

  // No document has another number, and what has one is no guard.
  bool may_hold(DocumentNumber document) const { return document.value > 0 && document.value <= collection_documents; }
  Error missing(DocumentNumber document) const {
    return {Errc::not_found, name + ": no document " + std::to_string(document.value)};
  }
};

}  // namespace hedgerow
