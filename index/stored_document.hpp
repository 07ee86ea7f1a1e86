// What a user sees of a hit, as it is kept in the data of a Xapian document: compact JSON.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

struct StoredDocument {
  std::string id;
  std::string title;
  std::string url;
  std::string text;         // at most longest_stored_text bytes of it; all of it is indexed
  std::string facets_json;  // an object of arrays of strings
};

// A longer text is cut here, at a character's border: snippets come from what is kept.
inline constexpr std::size_t longest_stored_text = 1 << 20;

std::string encode_stored_document(const Document& document);
// Errors: corrupt.
result<StoredDocument> decode_stored_document(std::string_view data);

}  // namespace hedgerow
