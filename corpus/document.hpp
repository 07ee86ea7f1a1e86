// One searchable record, as every reader gives it and the index takes it.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace hedgerow {

// All text is valid UTF-8 (readers see to it). The id is not empty and is unique in the collection.
struct Document {
  std::string id;
  std::string title;
  std::string url;
  std::string text;
  // Facet name to its values, in the order given: {"section": ["editors"], "role": ["program"]}.
  std::map<std::string, std::vector<std::string>> facets;
};

}  // namespace hedgerow
