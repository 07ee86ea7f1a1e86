// Answers as HTTP: the JSON of the API and the headers that go with it. Pure.
#pragma once

#include <nlohmann/json.hpp>

#include "root/answer.hpp"
#include "wire/http.hpp"

namespace hedgerow::root {

nlohmann::ordered_json to_json(const Completeness& completeness);
wire::HttpResponse to_response(const SearchAnswer& answer);
wire::HttpResponse to_response(const DocumentAnswer& answer);
wire::HttpResponse to_response(const SearchRefusal& refusal);

}  // namespace hedgerow::root
