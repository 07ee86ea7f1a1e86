// The inside of a PreparedQuery, for the searcher.
#pragma once

#include <memory>
#include <unordered_map>

#include "index/query_tree.hpp"
#include "index/searcher.hpp"

namespace hedgerow {

struct PreparedQuery::Implementation {
  QueryNode root;
  // Of every term of the tree that stands in the collection: its idf there.
  std::unordered_map<std::string, double> inverse_document_frequencies;
  double postings = 0;  // see PreparedQuery::postings
  double average_length = 0;  // > 0, unless the collection holds nothing
  Generation generation;
  // Whether the tree holds an OR or an AND_MAYBE, the two shapes with which the engine prunes (see guard.hpp).
  bool prunes = false;
};

}  // namespace hedgerow
