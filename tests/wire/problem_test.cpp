#include "wire/problem.hpp"

#include <doctest/doctest.h>

using namespace hedgerow::wire;
using nlohmann::json;

TEST_CASE("a problem has type, title, status and detail (RFC 9457), and the members given") {
  const auto response = problem(422, "quarantined", "This query made a leaf end.", {{"retry_after_ms", 500}});
  CHECK(response.status == 422);
  CHECK(response.content_type == "application/problem+json");
  CHECK(json::parse(response.body) == json({{"type", "urn:hedgerow:problem:quarantined"},
                                            {"title", "Unprocessable Content"},
                                            {"status", 422},
                                            {"detail", "This query made a leaf end."},
                                            {"retry_after_ms", 500}}));
}

TEST_CASE("detail may hold any bytes of a client's, and is valid JSON all the same") {
  const auto response = problem(400, "bad", "\xff\xfe \"quoted\" \n");
  const auto body = json::parse(response.body);
  CHECK(body["detail"].get<std::string>().find("\"quoted\"") != std::string::npos);
}

TEST_CASE("headers are found in any case, the first one of a name") {
  HttpResponse response;
  response.headers = {{"Retry-After", "1"}, {"retry-after", "2"}};
  CHECK(response.header("RETRY-after") == "1");
  CHECK(!response.header("Retry"));
}
