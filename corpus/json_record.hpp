// One JSON object to one document, without building the object: memory stays a small multiple of the line's, however
// deep or wide it is.
#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"
#include "corpus/document.hpp"

namespace hedgerow {

struct JsonRecord {
  Document document;
  // The name of a field that holds an object, or an array in an array: those are no facets and are left out.
  // Empty if there is none; "(a long name)" in place of one that is too long for a facet.
  std::string nested_field;
};

// "id", or "_id" where there is no "id", is a string or a whole number; "title", "text" and "url" are strings, null, or
// absent. Every other field is a facet: a string, a number (as it is written), true or false, or an array of those; null
// counts as absent. Of a field that comes twice, the last counts. The line must be valid UTF-8.
// Errors: input, naming the field or the byte of the line.
result<JsonRecord> parse_json_record(std::string_view line);

}  // namespace hedgerow
