// A document by its external id, and the words that say what it is about.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/document_term.hpp"
#include "index/partition_of.hpp"
#include "index/searcher.hpp"

namespace hedgerow {

// In this partition; nothing where it is not there. Errors: corrupt, io.
result<std::optional<DocumentNumber>> find_document(const PartitionSearcher& partition, std::string_view id);

// The document's stems (its words, where the index has no stemmer), at most `most`, most frequent first, ties by bytes:
// the same for every partitioning. Whoever has the collection's frequencies can weigh them (plan_similar).
// Errors: not_found, corrupt, io.
result<std::vector<DocumentTerm>> counted_terms(const PartitionSearcher& partition, DocumentNumber document,
                                                std::size_t most);

}  // namespace hedgerow
