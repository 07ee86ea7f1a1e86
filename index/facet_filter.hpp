// What facet:value in a query looks for. Pure, but for the statistics.
#pragma once

#include "base/error.hpp"
#include "index/query_text.hpp"
#include "index/query_tree.hpp"

namespace hedgerow {

class CollectionStatistics;

// - facet:value         the term of the value, whatever its case
// - facet:begin*        a prefix
// - facet:1..2          a range, where the facet's values are numbers or dates; either end may be left out. A bound that
//                       is a year, a month or a day of a date facet stands for all of it. Documents without a value are
//                       in no range.
//
// Errors: invalid_argument (a range of what has none, a bound that cannot be read, an end below its begin), naming the
// facet and what it takes.
result<QueryNode> filter_node(const FacetFilter& filter, const FacetField& facet,
                              const CollectionStatistics& statistics);

}  // namespace hedgerow
