// What a user sees of a hit, as a partition keeps it: what a list of hits shows in a value slot of the Xapian document, apart
// from the rest, so that a list is read without unpacking texts; text and facets in the document's data, as compact JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

// What a list of hits shows of a document.
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

// The value: the lengths of id and title, four bytes each, little-endian, then id, title and url.
std::string encode_shown_document(const Document& document);
// Errors: corrupt.
result<ShownDocument> decode_shown_document(std::string_view value);

// The data.
std::string encode_stored_data(const Document& document);
// Errors: corrupt.
result<std::string> decode_stored_text(std::string_view data);
result<StoredDocument> decode_stored_document(std::string_view value, std::string_view data);

}  // namespace hedgerow
