// Every error of the API: its status, and problem details that tell a person what to do (RFC 9457).
#include <doctest/doctest.h>
#include <sys/socket.h>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

void expect_problem(const Reply& reply, int status, const std::string& type, const std::string& detail) {
  CAPTURE(reply.body);
  CAPTURE(reply.error);
  CHECK(reply.status == status);
  CHECK(reply.content_type == "application/problem+json");
  const auto problem = reply.json();
  REQUIRE(problem.is_object());
  CHECK(problem["type"] == "urn:hedgerow:problem:" + type);
  CHECK(problem["status"] == status);
  CHECK(problem["title"].is_string());
  CHECK(problem["title"] != "");
  REQUIRE(problem["detail"].is_string());
  CHECK(problem["detail"].get<std::string>().find(detail) != std::string::npos);
}

}  // namespace

TEST_CASE("every bad request has its status and problem details that name what is wrong") {
  struct Row {
    const char* method;
    std::string target;
    std::string body;
    wire::HttpHeaders headers;
    int status;
    const char* type;
    const char* detail;
  };
  const auto search = [](const std::string& more) { return "/v1/search?q=otter" + more; };
  const std::vector<Row> rows{
      {"GET", search("&colour=red"), "", {}, 400, "unknown-parameter", "'colour'"},
      {"GET", search("&hedge=fast"), "", {}, 400, "bad-parameter", "'hedge'"},
      {"GET", search("&snippets=on"), "", {}, 400, "bad-parameter", "'snippets'"},
      {"GET", search("&spelling="), "", {}, 400, "bad-parameter", "'auto' or 'off'"},
      {"GET", search("&cache=maybe"), "", {}, 400, "bad-parameter", "'maybe'"},
      {"GET", search("&facets=colour"), "", {}, 400, "unknown-facet", "'colour'"},
      {"GET", search("&facets=a,,b"), "", {}, 400, "bad-parameter", "'facets'"},
      {"GET", search("&grace=5"), "", {}, 400, "bad-parameter", "'grace'"},
      {"GET", search("&like=x"), "", {}, 400, "bad-parameter", "'like'"},
      {"GET", "/v1/search?like=nothing", "", {}, 404, "unknown-document", "'nothing'"},
      {"DELETE", "/v1/quarantine?id=1", "", {}, 400, "unknown-parameter", "'id'"},
      {"PUT", "/v1/hedging?budget_fill=0.9", "{}", {}, 400, "unknown-parameter", "'budget_fill'"},
      {"PUT", "/v1/hedging", R"({"budget_fill":0.1,"budget_fill":0.2})", {}, 400, "bad-parameter", "twice"},
      {"GET", "/v1/documents/nothing", "", {}, 404, "unknown-document", "'nothing'"},
      {"GET", "/v1/documents/", "", {}, 404, "unknown-path", "/v1/documents/"},
      {"GET", "/v1/documents/x?deadline=0ms", "", {}, 400, "bad-parameter", "'0ms'"},
      {"GET", "/v1/documents/x?q=y", "", {}, 400, "unknown-parameter", "'q'"},
      {"GET", "/v1/documents/" + std::string(1025, 'x'), "", {}, 400, "bad-parameter", "1024"},
      {"POST", "/v1/documents/x", "{}", {}, 405, "method-not-allowed", "POST"},
      {"GET", search("&deadline=100"), "", {}, 400, "bad-parameter", "'100'"},
      {"GET", search("&deadline=0ms"), "", {}, 400, "bad-parameter", "'0ms'"},
      {"GET", search("&deadline=61s"), "", {}, 400, "bad-parameter", "60s"},
      {"GET", search("&k=ten"), "", {}, 400, "bad-parameter", "'ten'"},
      {"GET", search("&k=0"), "", {}, 400, "bad-parameter", "'k'"},
      {"GET", search("&k=-1"), "", {}, 400, "bad-parameter", "'-1'"},
      {"GET", search("&k=1001"), "", {}, 400, "bad-parameter", "1000"},
      {"GET", search("&offset=10001"), "", {}, 400, "bad-parameter", "10000"},
      {"GET", search("&offset=9995&k=10"), "", {}, 400, "bad-parameter", "10000"},
      {"GET", search("&k=3&k=4"), "", {}, 400, "bad-parameter", "twice"},
      {"GET", search("&fanout=0"), "", {}, 400, "bad-parameter", "'fanout'"},
      {"GET", search("&partial=maybe"), "", {}, 400, "bad-parameter", "'deny'"},
      {"GET", search("&class=urgent"), "", {}, 400, "bad-parameter", "'interactive'"},
      {"GET", search("&trace=yes"), "", {}, 400, "bad-parameter", "'trace'"},
      {"GET", "/v1/search", "", {}, 400, "missing-parameter", "'q'"},
      {"GET", "/v1/search?q=", "", {}, 400, "bad-query", "nothing to search for"},
      {"GET", "/v1/search?q=%20%20%09", "", {}, 400, "bad-query", "nothing to search for"},
      {"GET", "/v1/search?q=%2B%20-%20%22", "", {}, 400, "bad-query", ""},
      {"GET", "/v1/search?q=AND%20OR", "", {}, 400, "bad-query", ""},
      {"GET", "/v1/search?q=-otter", "", {}, 400, "bad-query", ""},
      {"GET", "/v1/search?q=" + std::string(4097, 'a'), "", {}, 400, "query-too-large", "4096"},
      {"GET", "/v1/search?q=otter%zz", "", {}, 400, "bad-target", ""},
      {"GET", "/v1/search?q=otter%4", "", {}, 400, "bad-target", ""},
      {"POST", "/v1/search", "{\"q\":\"otter\"", {}, 400, "bad-json", "JSON"},
      {"POST", "/v1/search", "[1]", {}, 400, "bad-json", "object"},
      {"POST", "/v1/search", R"({"q":"otter","k":1.5})", {}, 400, "bad-parameter", "'k'"},
      {"POST", "/v1/search", R"({"q":"otter","colour":"red"})", {}, 400, "unknown-parameter", "'colour'"},
      {"POST", "/v1/search?k=3", R"({"q":"otter"})", {}, 400, "bad-parameter", "body"},
      {"POST", "/v1/search", "q=otter", {{"Content-Type", "application/x-www-form-urlencoded"}}, 415, "not-json",
       "application/json"},
      {"POST", "/v1/search", std::string(2 << 20, ' '), {}, 413, "body-too-large", ""},
      {"DELETE", search(""), "", {}, 405, "method-not-allowed", "DELETE"},
      {"PUT", "/v1/cluster", "{}", {}, 405, "method-not-allowed", "PUT"},
      {"GET", "/v2/search?q=otter", "", {}, 404, "unknown-path", "/v2/search"},
      {"GET", "/v1/search/more", "", {}, 404, "unknown-path", "/v1/search/more"},
      {"GET", search(""), "", {{"Host", "evil.example"}}, 403, "foreign-host", "evil.example"},
      {"GET", search(""), "", {{"Origin", "http://evil.example"}}, 403, "foreign-origin", "evil.example"},
      {"GET", search(""), "", {{"Origin", "null"}}, 403, "foreign-origin", "null"},
      {"GET", search(""), "", {{"X-Long", std::string(40 << 10, 'x')}}, 431, "header-too-large", ""},
      {"GET", "/v1/leaves/leaf-9/faults", "", {}, 404, "unknown-leaf", "leaf-9"},
      {"PUT", "/v1/leaves/leaf-0/faults", "[]", {}, 403, "faults-not-allowed", "--allow-faults"},
      {"DELETE", "/v1/leaves/leaf-0/faults", "", {}, 403, "faults-not-allowed", "--allow-faults"},
  };
  TestCluster cluster({.index = animal_index().directory, .leaves = 2});
  for (const auto& row : rows) {
    CAPTURE(std::string(row.method));
    CAPTURE(row.target.substr(0, 80));
    // Each on a connection of its own: some end it.
    const auto reply = Client(cluster.root_address()).request(row.method, row.target, row.body, row.headers);
    expect_problem(reply, row.status, row.type, row.detail);
    if (row.status == 405) CHECK(reply.header("Allow") != "");
  }
  CHECK(Client(cluster.root_address()).request("PUT", "/v1/search?q=a").header("Allow") == "GET, POST");
  // And the server is as well as before.
  CHECK(cluster.search("otter", {{"deadline", "20s"}}).json()["finished"] == "complete");
  CHECK(cluster.metric("root", "hedgerow_root_queries_total{outcome=\"rejected\"}") >= 20);
}

TEST_CASE("what is no HTTP at all is a 400 or an end of the connection, and harms nobody") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 2});
  for (const std::string bytes : {"\r\n\r\n", "HELO otter\r\n\r\n", "GET\r\n\r\n", "GET /v1/search?q=otter HTTP/9.9\r\n\r\n",
                                  "GET /v1/search?q=otter HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n",
                                  "POST /v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -4\r\n\r\n",
                                  "\x16\x03\x01\x02\x03\x01\x04\xfc\x03\x03"}) {
    CAPTURE(bytes);
    RawClient client(cluster.root_address());
    client.send(bytes);
    ::shutdown(client.socket(), SHUT_WR);
    const auto answer = client.read_to_end();
    CHECK((answer.empty() || answer.starts_with("HTTP/1.1 400 ")));
  }
  CHECK(cluster.search("otter", {{"deadline", "20s"}}).json()["finished"] == "complete");
}

TEST_CASE("with every leaf down a query is a 503 that says when to come again, never an empty answer (trap 9)") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 2});
  for (const auto& leaf : cluster.leaves()) {
    cluster.act(leaf, "kill");
    REQUIRE(cluster.stops_serving(leaf, 5s));
  }
  const auto reply = cluster.search("otter", {{"deadline", "20s"}});
  expect_problem(reply, 503, "no-leaf-answers", "");
  CHECK(reply.header("Retry-After") == "1");
  CHECK(reply.took() < 10s);
  CHECK(reply.json()["completeness"]["missing"].size() == 8);
  CHECK(cluster.ask("GET", "/readyz").status == 503);
  CHECK(cluster.ask("GET", "/livez").status == 200);
  CHECK(cluster.ask("GET", "/v1/leaves/leaf-0/faults").status == 502);
  cluster.act("leaf-0", "start");
  cluster.act("leaf-1", "start");
  REQUIRE(cluster.becomes_serving("leaf-0", 5s));
  REQUIRE(cluster.becomes_serving("leaf-1", 5s));
  CHECK(cluster.search("otter", {{"deadline", "20s"}}).json()["finished"] == "complete");
}

TEST_CASE("with every leaf late a query is a 504 that says what is missing, and partial=deny makes one of any incomplete answer (traps 9 and 12)") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 2, .allow_faults = true});
  const json late{{{"kind", "late"}, {"delay", "30s"}}};
  cluster.set_faults("leaf-0", late);
  const auto partitions = cluster.partitions_of("leaf-0");
  const std::string deadline = format_duration(scaled(150ms));

  const auto denied = cluster.search("otter", {{"deadline", deadline}, {"partial", "deny"}});
  expect_problem(denied, 504, "incomplete", "partial=deny");
  CHECK(missing_of(denied.json()) == all_for(partitions, "late"));
  CHECK(denied.header("Hedgerow-Completeness") == completeness_header(animal_index().fraction_without(partitions)));
  const auto allowed = cluster.search("otter", {{"deadline", deadline}});
  CHECK(allowed.status == 200);
  CHECK(missing_of(allowed.json()) == all_for(partitions, "late"));

  cluster.set_faults("leaf-1", late);
  const auto nothing = cluster.search("otter", {{"deadline", deadline}});
  expect_problem(nothing, 504, "nothing-in-time", "deadline");
  CHECK(missing_of(nothing.json()) == all_for({0, 1, 2, 3, 4, 5, 6, 7}, "late"));
  CHECK(nothing.json()["completeness"]["fraction"] == 0.0);
  CHECK(nothing.header("Hedgerow-Completeness") == "0.0000");

  cluster.clear_faults("leaf-0");
  cluster.clear_faults("leaf-1");
  CHECK(cluster.search("otter", {{"deadline", "20s"}, {"partial", "deny"}}).status == 200);
}

TEST_CASE("faults that make no sense are refused by name, through the root") {
  TestCluster cluster({.index = animal_index().directory, .leaves = 2, .allow_faults = true});
  const std::vector<std::pair<std::string, std::string>> rows{
      {"{", "JSON"},
      {"7", "list"},
      {R"([{"kind":"sleepy"}])", "'kind'"},
      {R"([{"kind":"late"}])", "'delay' is missing"},
      {R"([{"kind":"late","delay":"200"}])", "'delay'"},
      {R"([{"kind":"error","probability":1.5}])", "'probability'"},
      {R"([{"kind":"error"},{"kind":"error","colour":"red"}])", "fault 2"},
      {R"([{"kind":"pause","word":"otter"}])", "pause"}};
  for (const auto& [body, detail] : rows) {
    CAPTURE(body);
    const auto reply = cluster.ask("PUT", "/v1/leaves/leaf-0/faults", body);
    CHECK(reply.status == 400);
    CHECK(reply.content_type == "application/problem+json");
    CHECK(reply.json()["detail"].get<std::string>().find(detail) != std::string::npos);
    CHECK(cluster.faults("leaf-0").empty());
  }
}
