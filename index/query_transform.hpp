// What the root makes of a parsed query before it is sent: prefixes become the words that begin so, synonyms join the
// words that they stand for, and very frequent words are made optional. Every step leaves a tree that leaves execute
// without knowing of any of this. Pure, but for the statistics.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "index/query.hpp"
#include "index/query_tree.hpp"

namespace hedgerow {

// The result holds no prefix. Notes are added for whatever was cut or found nothing.
//
// Synonyms: a word becomes an OR of itself and its synonyms (a sequence of words as a phrase); a quoted phrase that has
// synonyms as a whole as well, and words side by side in an OR that have some together are joined by them. Not below
// what is excluded, in a longer phrase, a NEAR or a filter.
//
// Frequent words: children of an OR that documents must match, as long as a word that occurs stays behind. Not within
// what a prefix or a synonym stands for, and not where words are optional anyway.
//
// Errors: invalid_argument (a prefix that is too short).
result<QueryNode> transform_query(QueryNode tree, const CollectionStatistics& statistics, const PlanSettings& settings,
                                  std::vector<std::string>& notes);

}  // namespace hedgerow
