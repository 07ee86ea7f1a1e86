// What each peer indexes, from the same reader and cut by the same hash as Hedgerow's partitions.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <iosfwd>

#include "corpus/reader.hpp"

namespace hedgerow::peers {

// Every document that the reader gives; what cannot be read is passed over, as hedgerow-index does.
void for_each_document(Reader& reader, const std::function<void(const Document&)>& work);

// Xapian: DIRECTORY/database-0 and on, with Hedgerow's terms as it counts them by default, each one compacted file. Of a document is stored what a list of
// hits shows and no more: the texts would only be carried to whoever asks. Throws what Xapian throws.
void build_xapian(Reader& reader, std::size_t databases, const std::filesystem::path& directory);

// Sphinx: what its indexer reads of one shard (xmlpipe2). Title and text are searched; name (the id), title and url are
// stored. Documents are numbered as they come, over all shards.
void write_sphinx_shard(Reader& reader, std::size_t shard, std::size_t shards, std::ostream& out);

}  // namespace hedgerow::peers
