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
  static constexpr std::size_t shortest_length = 64;
  static constexpr std::size_t longest_length = 1024;

  // Of the text that is shown, at most (lifted or lowered to the two above); marks, entities and ellipses come on top.
  std::size_t length_bytes = 240;
};

// One for each document, in their order: HTML in which everything from the document is escaped and the query's words
// stand in <b>…</b> (whatever stands for a term of the query, as the search takes it; not what is only excluded); the
// start of the text where no word of the query stands in it; empty where there is no text. See passage.hpp for which
// passage it is. The same for every partitioning. *stop is read between documents and while a text is read; may be null.
// Errors: cancelled, not_found, corrupt, io.
result<std::vector<std::string>> make_snippets(const PartitionSearcher& partition, const PreparedQuery& query,
                                               const std::vector<DocumentNumber>& documents,
                                               const SnippetSettings& settings, const std::atomic<bool>* stop);

}  // namespace hedgerow
