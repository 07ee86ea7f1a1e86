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
class Synonyms;

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
  // The most frequent words that a prefix* stands for; fewer where a query holds many prefixes: all of them together
  // stand for at most most_expanded_terms.
  std::size_t most_prefix_terms = 50;
  std::size_t shortest_prefix = 2;  // characters before the *
  std::size_t most_expanded_terms = 512;
  // The words of the collection that are looked at for the prefixes of one query, together: the root is one thread, and
  // each costs it some 0.2 µs (8,917 of them: 1.9 ms).
  std::size_t most_prefix_terms_seen = 20'000;
};

// Words that stand in a large share of all documents weigh next to nothing, but an OR must look at every document that
// holds one. Beside other words they are only welcome: they add to the score of what the others find (AND_MAYBE).
struct FrequentWords {
  double share = 0.2;  // of the documents that a word stands in more than
  // Collections with fewer documents have no frequent words: looking at all of them costs nothing.
  std::uint64_t smallest_collection = 5000;
};

struct PlanSettings {
  QueryLimits limits;
  FrequentWords frequent_words;
  const Synonyms* synonyms = nullptr;  // not owned; null: none
};

// The query language; docs/operations.md tells it to people:
//
//   words            an OR, best first, and before all the document whose id or title the whole query is; stemmed, whatever their case; Chinese, Japanese and Korean by n-grams
//   "a phrase"  a NEAR/3 b  a ADJ b
//   +must  -not      AND OR NOT, parentheses
//   begin*           the words that begin so
//   title:word  title:"a phrase"  title:(words)  title:begin*
//   facet:value  facet:"a value"  facet:begin*  facet:2000..2010  facet:..2010
//                    filters, which score nothing; two of one facet mean either (see index/facet_filter)
//
// A filter alone is a query as well: its documents in the order of the collection, each with a score of 0.
// What the asker should know (a prefix that was cut, an unknown field that was read as words) is told in notes.
// Errors: invalid_argument (empty, nothing to search for, or not parsable, with the reason), too_large (limits).
result<QueryPlan> plan_query(std::string_view text, const CollectionStatistics& statistics,
                             const PlanSettings& settings = {});

}  // namespace hedgerow
