// Hedgerow itself, asked as anybody would ask it: GET /v1/search on a kept-alive connection.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

// The results cache, spelling and snippets are off, since no peer has them; what is given in parameters comes on top.
// Errors: invalid_argument (the address).
result<std::unique_ptr<Engine>> make_hedgerow(const std::string& address, const std::vector<std::pair<std::string, std::string>>& parameters);

// How many hits an answer holds, without reading it as JSON: no text in JSON holds the mark that each begins with.
std::uint32_t count_hits(std::string_view json);

}  // namespace hedgerow::peers
