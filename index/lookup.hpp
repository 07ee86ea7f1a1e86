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

// The document's terms that weigh most by count and by this partition's document frequencies, at most `most`, heaviest
// first; ties by bytes. Whoever has the collection's frequencies can weigh them anew. Of a document with very many
// different terms only the most frequent are looked at. Errors: not_found, corrupt, io.
result<std::vector<DocumentTerm>> characteristic_terms(const PartitionSearcher& partition, DocumentNumber document,
                                                       std::size_t most);

}  // namespace hedgerow
