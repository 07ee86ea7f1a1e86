// A query as a tree of our own, read from Xapian's serialisation.
//
// Xapian's own reader recurses as deep as its input says, and accepts operators (wildcards, posting sources) that no
// plan of ours holds; what comes over the wire is therefore read here, within bounds, and rebuilt for each partition by
// the public constructors of Xapian::Query. The format is that of Xapian 1.4 (Query::Internal::unserialise); a test
// holds the two together. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace hedgerow {

enum class QueryOperator {
  term,
  all_of,
  any_of,
  and_not,    // the first, and none of the others
  and_maybe,  // the first; the others only add to the score
  phrase,
  near,
  unscored,  // what its only child matches, with a score of 0
  range,     // documents with a value in the slot that is, as bytes, from begin to end; scores 0
  prefix,    // every word that begins with `term`: only while the root plans, never in a plan
};

struct QueryNode {
  QueryOperator op = QueryOperator::term;
  // Of a term: not empty; longer than longest_term_bytes it stands nowhere. Of a prefix: what its words begin with.
  std::string term;
  std::uint32_t query_frequency = 1;  // of a term: at least 1
  std::uint32_t window = 0;           // of a phrase or near: at least the number of children
  // Of a phrase or near: terms only. Of unscored: one. Otherwise at least two; in a tree of the root's own also fewer:
  // an any_of over none matches nothing.
  std::vector<QueryNode> children;
  std::uint32_t position = 0;  // of a term: its place among the words that were typed, from 1; 0: none
  std::uint32_t slot = 0;      // of a range
  std::string begin{};         // of a range: the lowest value; empty: no lowest
  std::string end{};           // of a range: the highest value; empty: no highest; one of both there is
};

struct QueryBounds {
  std::size_t most_bytes = 64 << 10;
  std::size_t most_terms = 1024;
  std::size_t deepest = 256;
  // Whether prefixes are read: only by the root, which expands them.
  bool with_prefixes = false;
};

// The longest term that an index can hold (Xapian's limit for a key).
inline constexpr std::size_t longest_term_bytes = 245;

// Errors: too_large (bounds), protocol (not a serialised query), unsupported (an operator that no plan holds, named).
// An empty string is no query: protocol. OP_FILTER is read as an all_of with unscored parts, and OP_SCALE_WEIGHT by 0 as
// unscored.
result<QueryNode> read_query(std::string_view serialised, const QueryBounds& bounds = {});

// The same query for Xapian, and so for read_query; empty for a query that matches nothing. Parts that match nothing are
// left out where that changes nothing. The tree holds no prefix. Throws what Xapian throws.
std::string write_query(const QueryNode& root);

}  // namespace hedgerow
