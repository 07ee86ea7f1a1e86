// From what a person typed to a query plan that any partition can execute.
//
// The root parses once, against the collection's statistics; leaves only execute. Pure: no clock, no I/O beyond the
// statistics database. One QueryParser per thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace hedgerow {

class CollectionStatistics;

// A term of the plan and in how many documents of the whole collection it stands.
struct PlannedTerm {
  std::string term;
  std::uint32_t document_frequency = 0;
};

// A plain word of the query as it was typed: not in a phrase, not of a field, not excluded.
struct TypedWord {
  std::string word;       // in lower case
  std::size_t begin = 0;  // where it stands in the text, in bytes
  std::size_t end = 0;
  std::uint32_t document_frequency = 0;  // of the word itself, not of its stem
};

// Everything that a partition needs to score a query as if it were the whole collection.
struct QueryPlan {
  std::string serialised_query;    // Xapian::Query::serialise(); empty: matches nothing
  std::vector<PlannedTerm> terms;  // the distinct terms, in byte order
  std::uint64_t collection_documents = 0;
  double average_length = 0;  // of the whole collection, in terms
  Generation generation;
  // What the asker should know, one sentence each: a prefix that was cut, a field that does not exist.
  std::vector<std::string> notes;
  std::vector<TypedWord> words;  // in the order of the text
};

// Bounds on what a person may type; beyond them the answer is an error that states the bound.
struct QueryLimits {
  std::size_t longest_query_bytes = 4096;
  std::size_t most_terms = 128;  // of the text; what prefixes and synonyms add comes on top
  std::size_t most_prefix_terms = 50;  // the most frequent words that a prefix* stands for
  std::size_t shortest_prefix = 2;     // characters before the *
};

// Words (stemmed), "phrases", +must, -not, AND, OR, NOT, NEAR, and parentheses; words without operators are an OR.
// Errors: invalid_argument (empty, nothing to search for, or not parsable, with the reason), too_large (limits).
result<QueryPlan> plan_query(std::string_view text, const CollectionStatistics& statistics, const QueryLimits& limits = {});

}  // namespace hedgerow
