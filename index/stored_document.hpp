// What a user sees of a hit, as it is kept in the data of a Xapian document: compact JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

// What a list of hits shows of it. It comes first in the data, so that nobody reads texts for it.
struct ShownDocument {
  std::string id;
  std::string title;  // at most longest_stored_title bytes
  std::string url;    // empty where it was longer than longest_stored_url
};

struct StoredDocument : ShownDocument {
  std::string text;         // at most longest_stored_text bytes of it; all of it is indexed
  std::string facets_json;  // an object of arrays of strings
};

// A longer text is cut here, at a character's border: snippets come from what is kept.
inline constexpr std::size_t longest_stored_text = 1 << 20;
// A longer title is cut for display (all of it is indexed), and a longer url, of which a part is none, is left out: the
// titles and urls of a thousand hits must fit into a link's queue.
inline constexpr std::size_t longest_stored_title = 2048;
inline constexpr std::size_t longest_stored_url = 2048;

std::string encode_stored_document(const Document& document);
// Errors: corrupt.
result<ShownDocument> decode_shown_document(std::string_view data);
result<StoredDocument> decode_stored_document(std::string_view data);

}  // namespace hedgerow
