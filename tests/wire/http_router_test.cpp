#include "wire/http_router.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "loopback.hpp"

using namespace hedgerow::wire;

namespace {

RouteHandler says(std::string word) {
  return [word](HttpRequest&, const PathParts& parts) -> asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.body = word;
    for (const auto& [name, value] : parts) response.body += " " + name + "=" + value;
    co_return response;
  };
}

HttpResponse ask(const std::string& method, const std::string& path) {
  const HttpRouter router({{"GET", "/", says("page")},
                           {"GET", "/v1/search", says("search")},
                           {"POST", "/v1/search", says("search by post")},
                           {"GET", "/v1/leaves/{leaf}", says("leaf")},
                           {"PUT", "/v1/leaves/{leaf}/faults", says("put")},
                           {"DELETE", "/v1/leaves/{leaf}/faults", says("delete")},
                           {"GET", "/v1/{one}/{other}/end", says("two")},
                           {"GET", "/v1/documents/{id...}", says("rest")}});
  asio::io_context context;
  HttpRequest request;
  request.method = method;
  request.path = path;
  HttpResponse response;
  run(context, [&]() -> asio::awaitable<void> { response = co_await router.handle(request); });
  return response;
}

}  // namespace

TEST_CASE("a path goes to the handler of its method, with the parts that its pattern names") {
  CHECK(ask("GET", "/").body == "page");
  CHECK(ask("GET", "/v1/search").body == "search");
  CHECK(ask("POST", "/v1/search").body == "search by post");
  CHECK(ask("GET", "/v1/leaves/leaf-3").body == "leaf leaf=leaf-3");
  CHECK(ask("PUT", "/v1/leaves/a b/faults").body == "put leaf=a b");
  CHECK(ask("GET", "/v1/x/y/end").body == "two one=x other=y");
}

TEST_CASE("a pattern that ends with {name...} takes all that is left, as it is, and never nothing") {
  CHECK(ask("GET", "/v1/documents/a").body == "rest id=a");
  CHECK(ask("GET", "/v1/documents/a/b//c/").body == "rest id=a/b//c/");
  CHECK(ask("GET", "/v1/documents//").body == "rest id=/");
  for (const char* path : {"/v1/documents", "/v1/documents/"}) CHECK(ask("GET", path).status == 404);
  CHECK(ask("PUT", "/v1/documents/a").status == 405);
}

TEST_CASE("what no pattern matches whole is 404, with problem details") {
  for (const char* path : {"", "/v1", "/v1/", "/v1/search/", "/v1/search/more", "/v1//search", "//", "/V1/search", "v1/search",
                           "/v1/leaves", "/v1/leaves/", "/v1/leaves//faults", "/v1/leaves/a/faults/b"}) {
    CAPTURE(path);
    const auto response = ask("GET", path);
    CHECK(response.status == 404);
    CHECK(response.content_type == "application/problem+json");
    const auto body = nlohmann::json::parse(response.body);
    CHECK(body["status"] == 404);
    CHECK(body["type"] == "urn:hedgerow:problem:unknown-path");
  }
}

TEST_CASE("another method of a known path is 405, and Allow names those there are") {
  const auto search = ask("DELETE", "/v1/search");
  CHECK(search.status == 405);
  CHECK(search.header("Allow") == "GET, POST");
  const auto faults = ask("GET", "/v1/leaves/leaf-0/faults");
  CHECK(faults.status == 405);
  CHECK(faults.header("Allow") == "DELETE, PUT");
  CHECK(nlohmann::json::parse(faults.body)["detail"].get<std::string>().find("GET") != std::string::npos);
  CHECK(ask("get", "/v1/search").status == 405);
}
