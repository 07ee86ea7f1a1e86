// Requests for searches, encoded: "/v1/search?q=full%20text&k=3".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hedgerow::lab {

using SearchParameters = std::vector<std::pair<std::string, std::string>>;

// What stands in the request line; query and parameters as they are, not yet encoded.
std::string search_target(std::string_view query, const SearchParameters& parameters);

}  // namespace hedgerow::lab
