// Snippets: the passage of a document's text that speaks most of the query, with the query's words marked. An optional
// subsystem: nothing in an answer depends on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/searcher.hpp"

namespace hedgerow {

struct SnippetSettings {
  std::size_t length_bytes = 240;  // of the text that is shown, about; marks and entities come on top
};

// One for each document, in their order: HTML in which everything from the document is escaped and the query's words
// stand in <b>…</b>; the start of the text where no word of the query stands in it; empty where there is no text.
// The same for every partitioning. *stop as in PartitionSearcher::search; may be null.
// Errors: cancelled, not_found, corrupt, io.
result<std::vector<std::string>> make_snippets(const PartitionSearcher& partition, const PreparedQuery& query,
                                               const std::vector<DocumentNumber>& documents,
                                               const SnippetSettings& settings, const std::atomic<bool>* stop);

}  // namespace hedgerow
