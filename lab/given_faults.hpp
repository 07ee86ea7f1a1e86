// Faults as a command line gives them: JSON, a file that holds it, or "-" for standard input.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.hpp"

namespace hedgerow::lab {

// What it says is not looked at: see cluster_faults. Errors: io; invalid_argument where it is no JSON.
result<nlohmann::json> read_given_faults(const std::string& given);

}  // namespace hedgerow::lab
