// The inside of a PartitionSearcher, for the works of a leaf on a partition: search, snippets, facets, lookup.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <string>

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
};

}  // namespace hedgerow
