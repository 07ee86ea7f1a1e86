// Facet counts: how many of the matching documents have which value. An optional subsystem: nothing in an answer
// depends on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "index/searcher.hpp"

namespace hedgerow {

// Of one facet, over the documents of one partition (or of several, added up).
struct FacetCounts {
  std::map<std::string, std::uint64_t> counts;  // value, as given, to matching documents that have it
  // Some values are left out, because there were more than most_values: what is counted is right, but not all.
  bool cut = false;
};

struct FacetSettings {
  // More values than this in one partition: only the most frequent are kept (ties: by bytes), and cut is told.
  std::size_t most_values = 1000;
};

// Of every facet named, in the order of the names. Every matching document is looked at, so this costs more than a
// search. *stop as in PartitionSearcher::search; may be null. A name that no document has gives no counts.
// Errors: cancelled, corrupt, io.
result<std::vector<FacetCounts>> count_facets(const PartitionSearcher& partition, const PreparedQuery& query,
                                              const std::vector<std::string>& names, const FacetSettings& settings,
                                              const std::atomic<bool>* stop);

}  // namespace hedgerow
