// One searchable record, as every reader gives it and the index takes it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace hedgerow {

// What open_corpus's readers promise of every document:
// 1. All text is valid UTF-8 without control characters other than tab, newline and carriage return.
// 2. The id is not blank, holds no control character, has at most longest_id_bytes, and is unique in the collection.
// 3. Title or text is not blank.
// 4. A facet has a name of 1 to longest_facet_name_bytes and at least one value; each value has 1 to
//    longest_facet_value_bytes, and none comes twice.
struct Document {
  static constexpr std::size_t longest_id_bytes = 1024;
  static constexpr std::size_t longest_facet_name_bytes = 64;
  // A longer one is no category that anybody would count by. Name, value and a prefix fit into a Xapian term (245).
  static constexpr std::size_t longest_facet_value_bytes = 160;

  std::string id;
  std::string title;
  std::string url;
  std::string text;
  // Facet name to its values, in the order given: {"section": ["editors"], "role": ["program"]}.
  std::map<std::string, std::vector<std::string>> facets;

  friend bool operator==(const Document&, const Document&) = default;
};

}  // namespace hedgerow
