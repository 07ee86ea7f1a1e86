// Errors as HTTP answers: problem details (RFC 9457).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "wire/http.hpp"

namespace hedgerow::wire {

// type is a short word of a closed set ("unknown-parameter"); it becomes "urn:hedgerow:problem:unknown-parameter". The
// title follows from the status; detail says what is wrong with this request. Members of more are added as they are.
HttpResponse problem(int status, std::string_view type, std::string_view detail,
                     const nlohmann::json& more = nlohmann::json::object());

// "Not Found" for 404.
std::string_view reason_phrase(int status);

}  // namespace hedgerow::wire
