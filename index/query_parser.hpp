// From a prepared text to a tree, by Xapian's parser. Pure, but for the statistics.
#pragma once

#include <cstddef>

#include "base/error.hpp"
#include "index/query_text.hpp"
#include "index/query_tree.hpp"

namespace hedgerow {

class CollectionStatistics;

// Fields are terms with their prefix, facets are in their places, below an unscored node where they only filter; prefixes
// are not expanded.
// Errors: invalid_argument (nothing to search for, or not parsable, with the reason), too_large (more than most_terms).
result<QueryNode> parse_query(const QueryText& text, const CollectionStatistics& statistics, std::size_t most_terms);

}  // namespace hedgerow
