// A request's body as a JSON object, checked as strictly as an address: a name that is given twice is told. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "root/search_parameters.hpp"

namespace hedgerow::root {

// Problems: bad-json (none, or no object), bad-parameter (a name twice).
boost::system::result<nlohmann::json, ParameterProblem> parse_json_object(const std::string& body);

}  // namespace hedgerow::root
