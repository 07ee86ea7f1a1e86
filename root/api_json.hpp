// Answers as HTTP: the JSON of the API and the headers that go with it. Pure.
#pragma once

#include "root/answer.hpp"
#include "wire/http.hpp"

namespace hedgerow::root {

wire::HttpResponse to_response(const SearchAnswer& answer);
wire::HttpResponse to_response(const DocumentAnswer& answer);
wire::HttpResponse to_response(const SearchRefusal& refusal);

}  // namespace hedgerow::root
