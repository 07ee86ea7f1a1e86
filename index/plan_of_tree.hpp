// The last step of planning: a tree becomes a plan, with the statistics of its terms.
#pragma once

#include "base/error.hpp"
#include "index/query.hpp"
#include "index/query_tree.hpp"

namespace hedgerow {

class CollectionStatistics;

// Errors: too_large (more than a leaf takes). Throws what Xapian throws.
result<QueryPlan> plan_of_tree(QueryNode tree, const CollectionStatistics& statistics);

}  // namespace hedgerow
