// A prepared query rewritten for one partition: only terms that stand there, each with its global weight, and in the
// shape in which the engine's pruning is exact:
//
// - phrases, and whatever else is not a word below an OR, are matched first and take part as lists (MatchListSource);
// - the guards match the whole query, so that all lists stand together on the front guard and none ends before the last
//   document (see guard.hpp).
#pragma once

#include <xapian.h>

#include <cstdint>
#include <optional>

#include "index/prepared_query.hpp"

namespace hedgerow {

// How many of a partition's documents match, from document frequencies alone: the same whenever it is asked.
// Exact for the parts that were matched first.
struct MatchBounds {
  double lowest = 0;
  double estimate = 0;  // terms taken as independent, as Xapian does
  double highest = 0;
};

struct PartitionQuery {
  Xapian::Query query;
  MatchBounds matches;  // without the guards
};

// The partition that a query is rewritten for.
struct PartitionView {
  const Xapian::Database& database;
  std::uint32_t documents = 0;  // without the guards
  std::uint64_t collection_documents = 0;
};

// Nothing if no document of the partition can match. weight is the one that the query will run with. Throws what the
// engine and the weight throw.
std::optional<PartitionQuery> rewrite_for_partition(const PreparedQuery::Implementation& prepared,
                                                    const PartitionView& partition, const Xapian::Weight& weight);

}  // namespace hedgerow
