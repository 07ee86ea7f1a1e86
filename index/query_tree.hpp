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

enum class QueryOperator { term, all_of, any_of, and_not, and_maybe, phrase, near };

struct QueryNode {
  QueryOperator op = QueryOperator::term;
  std::string term;                   // of a term: not empty; longer than longest_term_bytes it stands nowhere
  std::uint32_t query_frequency = 1;  // of a term: at least 1
  std::uint32_t window = 0;           // of a phrase or near: at least the number of children
  std::vector<QueryNode> children;    // of a phrase or near: terms only; otherwise at least two
};

struct QueryBounds {
  std::size_t most_bytes = 64 << 10;
  std::size_t most_terms = 1024;
  std::size_t deepest = 256;
};

// The longest term that an index can hold (Xapian's limit for a key).
inline constexpr std::size_t longest_term_bytes = 245;

// Errors: too_large (bounds), protocol (not a serialised query), unsupported (an operator that no plan holds, named).
// An empty string is no query: protocol.
result<QueryNode> read_query(std::string_view serialised, const QueryBounds& bounds = {});

}  // namespace hedgerow
