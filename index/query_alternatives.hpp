// What else a query of plain words may mean, besides what Xapian's parser makes of it. Pure.
//
// - Words that only punctuation joins (low-dose, node.js, a/b) are a phrase to the parser, and whoever writes "low dose"
//   is not found by it. So they are that phrase or its words: what has the phrase ranks first, what has the words is found.
// - The whole query may be a document's name: its id or its title. Such a document should rank before those that merely
//   speak of it: it holds one more term, its name (fields::name_term), which counts as a word that stands in one document
//   and was typed name_frequency times.
//
// Both only where an OR decides: after + and -, in quotes, beside AND, NOT and NEAR a query means what it says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "index/query_text.hpp"
#include "index/query_tree.hpp"

namespace hedgerow {

class CollectionStatistics;

// Adds the words of joined words to the root's OR. Throws what Xapian throws.
void add_words_of_compounds(QueryNode& root, std::string_view typed, const QueryText& text,
                            const CollectionStatistics& statistics);

// Of BM25's (k3+1)·f/(k3+f), which goes up to k3+1, most is reached: with k3 = 1, 1.78 of 2.
inline constexpr std::uint32_t name_frequency = 8;

// Adds the query as a name to the root's OR.
void add_name(QueryNode& root, std::string_view typed);

}  // namespace hedgerow
