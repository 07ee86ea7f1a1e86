#include "wire/http_server.hpp"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "loopback.hpp"
#include "wire/problem.hpp"

using namespace hedgerow;
using namespace hedgerow::wire;
using namespace std::chrono_literals;

namespace {

// A server on a port of its own, drained at the end of each test.
class ServerBench {
 public:
  explicit ServerBench(HttpServer::Handler handler, HttpServerSettings settings = {})
      : server(context.get_executor(), std::move(settings), std::move(handler)) {
    const auto bound = server.listen(any_loopback_port());
    REQUIRE(bound.has_value());
    endpoint = *bound;
  }

  template <class Coroutine>
  void run(Coroutine coroutine) {
    wire::run(context, [&]() -> asio::awaitable<void> {
      co_await coroutine();
      co_await server.drain(1s);
    });
  }

  // Sends the bytes on a connection of its own, and reads until the server closes it.
  asio::awaitable<std::string> exchange(std::string bytes) {
    RawClient client(context);
    co_await client.connect(endpoint);
    co_await client.send(std::move(bytes));
    co_return co_await client.read_to_end();
  }

  asio::io_context context{1};
  HttpServer server;
  tcp::endpoint endpoint;
};

// Answers with method, path, parameters and body, and counts.
HttpServer::Handler echo(int& asked) {
  return [&asked](HttpRequest& request) -> asio::awaitable<HttpResponse> {
    ++asked;
    HttpResponse response;
    response.content_type = "text/plain";
    response.body = request.method + " " + request.path;
    for (const auto& [name, value] : request.parameters) response.body += " " + name + "=" + value;
    if (!request.body.empty()) response.body += " [" + request.body + "]";
    response.headers.emplace_back("X-Asked", std::to_string(asked));
    co_return response;
  };
}

std::string get(const std::string& target, const std::string& more = "", const std::string& host = "127.0.0.1") {
  return "GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n";
}

const std::string last = "Connection: close\r\n";

std::string problem_type(const std::string& response) {
  const auto body = nlohmann::json::parse(body_of(response), nullptr, false);
  return body.is_object() ? body.value("type", "") : "no problem details";
}

}  // namespace

TEST_CASE("a request's method, path, parameters and body reach the handler decoded, and its headers the client") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    const auto found = co_await bench.exchange(get("/v1/a%20b?q=full+text%2B&q=x&empty=&bare", last));
    CHECK(status_of(found) == 200);
    CHECK(body_of(found) == "GET /v1/a b q=full text+ q=x empty= bare=");
    CHECK(found.find("X-Asked: 1\r\n") != std::string::npos);
    CHECK(found.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
    CHECK(found.find("Content-Type: text/plain\r\n") != std::string::npos);
    const auto posted = co_await bench.exchange("POST /p HTTP/1.1\r\nHost: localhost:1\r\nContent-Length: 5\r\n" + last + "\r\nhello");
    CHECK(body_of(posted) == "POST /p [hello]");
    const auto chunked = co_await bench.exchange("POST /p HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" +
                                                 last + "\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
    CHECK(body_of(chunked) == "POST /p [abcde]");
  });
}

TEST_CASE("only requests addressed to this machine reach the handler, and only from pages of this server") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    for (const char* host : {"127.0.0.1", "127.0.0.1:7080", "localhost", "LocalHost:80", "[::1]", "[::1]:7080"}) {
      CAPTURE(host);
      CHECK(status_of(co_await bench.exchange(get("/", last, host))) == 200);
    }
    CHECK(asked == 6);
    for (const char* host : {"example.org", "example.org:7080", "localhost.example.org", "127.0.0.1.example.org", "", "[::2]", "[",
                             "0.0.0.0", "::1", "localhost:1@evil", "localhost:evil", "[::1]evil", "[::1]:7080evil"}) {
      CAPTURE(host);
      const auto refused = co_await bench.exchange(get("/", last, host));
      CHECK(status_of(refused) == 403);
      CHECK(problem_type(refused) == "urn:hedgerow:problem:foreign-host");
    }
    CHECK(status_of(co_await bench.exchange("GET / HTTP/1.1\r\n" + last + "\r\n")) == 403);
    const auto two = co_await bench.exchange("GET / HTTP/1.1\r\nHost: localhost\r\nHost: example.org\r\n" + last + "\r\n");
    CHECK(status_of(two) == 400);
    CHECK(asked == 6);

    CHECK(status_of(co_await bench.exchange(get("/", "Origin: http://localhost:7080\r\n" + last, "localhost:7080"))) == 200);
    for (const char* origin : {"http://example.org", "null", "http://localhost:7081", "https://localhost:7080", "http://localhost"}) {
      CAPTURE(origin);
      const auto refused =
          co_await bench.exchange(get("/", "Origin: " + std::string(origin) + "\r\n" + last, "localhost:7080"));
      CHECK(status_of(refused) == 403);
      CHECK(problem_type(refused) == "urn:hedgerow:problem:foreign-origin");
    }
    CHECK(asked == 7);
  });
}

TEST_CASE("a body beyond its bound is 413, told or chunked, and the client can read the answer though it goes on sending") {
  int asked = 0;
  HttpServerSettings settings;
  settings.body_bytes = 1000;
  ServerBench bench(echo(asked), settings);
  bench.run([&]() -> asio::awaitable<void> {
    const std::string head = "POST / HTTP/1.1\r\nHost: localhost\r\n";
    const auto within = co_await bench.exchange(head + last + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
    CHECK(status_of(within) == 200);
    const auto told = co_await bench.exchange(head + "Content-Length: 1001\r\n\r\n" + std::string(1001, 'x'));
    CHECK(status_of(told) == 413);
    CHECK(problem_type(told) == "urn:hedgerow:problem:body-too-large");
    CHECK(status_of(co_await bench.exchange(head + "Content-Length: 99999999999\r\n\r\n")) == 413);
    CHECK(status_of(co_await bench.exchange(head + "Content-Length: 2000000\r\n\r\n" + std::string(2'000'000, 'x'))) == 413);
    std::string chunks;
    for (int i = 0; i < 20; ++i) chunks += "64\r\n" + std::string(100, 'x') + "\r\n";
    CHECK(status_of(co_await bench.exchange(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n")) == 413);
    CHECK(asked == 1);
  });
}

TEST_CASE("a target or headers beyond their bound are 431") {
  int asked = 0;
  HttpServerSettings settings;
  settings.header_bytes = 2000;
  ServerBench bench(echo(asked), settings);
  bench.run([&]() -> asio::awaitable<void> {
    CHECK(status_of(co_await bench.exchange(get("/?q=" + std::string(1500, 'x'), last))) == 200);
    const auto target = co_await bench.exchange(get("/?q=" + std::string(3000, 'x')));
    CHECK(status_of(target) == 431);
    CHECK(problem_type(target) == "urn:hedgerow:problem:header-too-large");
    CHECK(status_of(co_await bench.exchange(get("/", "X-Long: " + std::string(3000, 'x') + "\r\n"))) == 431);
    std::string many;
    for (int i = 0; i < 300; ++i) many += "X-Many: 1\r\n";
    CHECK(status_of(co_await bench.exchange(get("/", many))) == 431);
    CHECK(status_of(co_await bench.exchange("GET /" + std::string(1'000'000, 'x'))) == 431);
    CHECK(asked == 1);
  });
}

TEST_CASE("what is no HTTP request is 400, and so is a target that cannot be decoded") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    for (const char* bytes : {"\x16\x03\x01\x02 hello\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nno colon\r\n\r\n",
                              "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                              "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
      CAPTURE(bytes);
      const auto refused = co_await bench.exchange(bytes);
      CHECK(status_of(refused) == 400);
      CHECK(problem_type(refused) == "urn:hedgerow:problem:bad-request");
    }
    for (const char* target : {"/%zz", "/a?q=%4", "http://127.0.0.1/", "*", "/a\x7f"}) {
      CAPTURE(target);
      CHECK(status_of(co_await bench.exchange(get(target, last))) == 400);
    }
    CHECK(asked == 0);
  });
}

TEST_CASE("a body in a coding that is not read is 501, and is not taken for the next request") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    for (const char* codings : {"Transfer-Encoding: frob", "Transfer-Encoding: gzip", "Transfer-Encoding: frob\r\nContent-Length: 3"}) {
      CAPTURE(codings);
      const auto refused = co_await bench.exchange("POST / HTTP/1.1\r\nHost: localhost\r\n" + std::string(codings) +
                                                   "\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
      CHECK((status_of(refused) == 501 || status_of(refused) == 400));
    }
    CHECK(asked == 0);
  });
}

TEST_CASE("a connection is kept for the next request, until either side says close") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    RawClient client(bench.context);
    co_await client.connect(bench.endpoint);
    for (int i = 1; i <= 3; ++i) {
      co_await client.send(get("/" + std::to_string(i)));
      CHECK(body_of(co_await client.read_response()) == "GET /" + std::to_string(i));
    }
    CHECK(bench.server.open_connections() == 1);
    co_await client.send(get("/last", last));
    CHECK(body_of(co_await client.read_to_end()) == "GET /last");

    const auto old = co_await bench.exchange("GET /old HTTP/1.0\r\nHost: localhost\r\n\r\n");
    CHECK(body_of(old) == "GET /old");
  });
}

TEST_CASE("a refusal leaves the connection usable") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    RawClient client(bench.context);
    co_await client.connect(bench.endpoint);
    co_await client.send(get("/", "", "example.org") + get("/ok"));
    CHECK(status_of(co_await client.read_response()) == 403);
    CHECK(body_of(co_await client.read_response()) == "GET /ok");
  });
}

TEST_CASE("requests sent at once are answered one after another, in their order") {
  std::vector<std::string> begun;
  ServerBench bench([&](HttpRequest& request) -> asio::awaitable<HttpResponse> {
    begun.push_back(request.path);
    // The earlier ones take longer: out of order, the last would be first.
    co_await pass(request.path == "/1" ? 20ms : 1ms);
    HttpResponse response;
    response.body = request.path;
    co_return response;
  });
  bench.run([&]() -> asio::awaitable<void> {
    const auto all = co_await bench.exchange(get("/1") + get("/2") + get("/3", last));
    const auto first = all.find("\r\n\r\n/1"), second = all.find("\r\n\r\n/2"), third = all.find("\r\n\r\n/3");
    CHECK(first != std::string::npos);
    CHECK(second != std::string::npos);
    CHECK(third != std::string::npos);
    CHECK(first < second);
    CHECK(second < third);
    CHECK(begun == std::vector<std::string>{"/1", "/2", "/3"});
  });
}

TEST_CASE("an answer to HEAD has the length of its body and no body, so that the next answer is read in its place") {
  int asked = 0;
  ServerBench bench(echo(asked));
  bench.run([&]() -> asio::awaitable<void> {
    RawClient client(bench.context);
    co_await client.connect(bench.endpoint);
    co_await client.send("HEAD /a HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const auto head = co_await client.read_response(false);
    CHECK(status_of(head) == 200);
    CHECK(head.find("Content-Length: 7\r\n") != std::string::npos);  // "HEAD /a"
    co_await client.send(get("/b"));
    const auto next = co_await client.read_response();
    CHECK(status_of(next) == 200);
    CHECK(body_of(next) == "GET /b");
  });
}

TEST_CASE("one connection more than the most is answered 503 and closed, and there is room when another has gone") {
  int asked = 0;
  HttpServerSettings settings;
  settings.most_connections = 2;
  ServerBench bench(echo(asked), settings);
  bench.run([&]() -> asio::awaitable<void> {
    auto one = std::make_unique<RawClient>(bench.context);
    RawClient other(bench.context);
    for (auto* client : {one.get(), &other}) {
      co_await client->connect(bench.endpoint);
      co_await client->send(get("/"));
      CHECK(status_of(co_await client->read_response()) == 200);
    }
    RawClient third(bench.context);
    co_await third.connect(bench.endpoint);
    const auto busy = co_await third.read_to_end();
    CHECK(status_of(busy) == 503);
    CHECK(busy.find("Retry-After: 1\r\n") != std::string::npos);
    CHECK(problem_type(busy) == "urn:hedgerow:problem:too-many-connections");

    one.reset();
    while (bench.server.open_connections() > 1) co_await pass(1ms);
    CHECK(status_of(co_await bench.exchange(get("/", last))) == 200);
  });
}

TEST_CASE("a connection that says nothing, or stops in the middle of a request, is closed when its time is over") {
  int asked = 0;
  HttpServerSettings settings;
  settings.idle_time = 50ms;
  ServerBench bench(echo(asked), settings);
  bench.run([&]() -> asio::awaitable<void> {
    CHECK(co_await bench.exchange("") == "");
    CHECK(co_await bench.exchange("GET / HTTP/1.1\r\nHost: local") == "");
    CHECK(co_await bench.exchange("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc") == "");
    RawClient kept(bench.context);
    co_await kept.connect(bench.endpoint);
    co_await kept.send(get("/"));
    CHECK(status_of(co_await kept.read_response()) == 200);
    CHECK(co_await kept.read_to_end() == "");
    CHECK(asked == 1);
  });
}

TEST_CASE("the time in which a request must arrive does not run while it is handled") {
  HttpServerSettings settings;
  settings.idle_time = 30ms;
  ServerBench bench(
      [](HttpRequest&) -> asio::awaitable<HttpResponse> {
        co_await pass(120ms);
        co_return HttpResponse{};
      },
      settings);
  bench.run([&]() -> asio::awaitable<void> { CHECK(status_of(co_await bench.exchange(get("/", last))) == 200); });
}

TEST_CASE("a handler that throws is a 500, and the connection goes on") {
  ServerBench bench([](HttpRequest& request) -> asio::awaitable<HttpResponse> {
    if (request.path == "/bad") throw std::runtime_error("a secret of the inside");
    co_return HttpResponse{};
  });
  bench.run([&]() -> asio::awaitable<void> {
    RawClient client(bench.context);
    co_await client.connect(bench.endpoint);
    co_await client.send(get("/bad"));
    const auto failed = co_await client.read_response();
    CHECK(status_of(failed) == 500);
    CHECK(failed.find("secret") == std::string::npos);
    co_await client.send(get("/good"));
    CHECK(status_of(co_await client.read_response()) == 200);
  });
}

TEST_CASE("a client that goes away while its request is handled is noticed") {
  bool gone = false;
  Event begun, ended;
  ServerBench bench([&](HttpRequest& request) -> asio::awaitable<HttpResponse> {
    begun.set();
    Event left;
    request.client->on_gone([&] {
      gone = true;
      left.set();
    });
    co_await left.wait();
    ended.set();
    co_return HttpResponse{};
  });
  bench.run([&]() -> asio::awaitable<void> {
    auto client = std::make_unique<RawClient>(bench.context);
    co_await client->connect(bench.endpoint);
    co_await client->send(get("/"));
    co_await begun.wait();
    CHECK(!gone);
    client.reset();
    co_await ended.wait();
    CHECK(gone);
    while (bench.server.open_connections() > 0) co_await pass(1ms);
  });
}

TEST_CASE("a client that stays is not taken for gone: not while it waits, sends its next request, or is answered") {
  int gone = 0;
  ServerBench bench([&](HttpRequest& request) -> asio::awaitable<HttpResponse> {
    request.client->on_gone([&] { ++gone; });
    co_await pass(20ms);
    HttpResponse response;
    response.body = request.path;
    co_return response;
  });
  bench.run([&]() -> asio::awaitable<void> {
    auto client = std::make_unique<RawClient>(bench.context);
    co_await client->connect(bench.endpoint);
    co_await client->send(get("/1"));
    co_await pass(5ms);
    co_await client->send(get("/2"));
    CHECK(body_of(co_await client->read_response()) == "/1");
    CHECK(body_of(co_await client->read_response()) == "/2");
    client.reset();  // answered: there is nobody to tell
    while (bench.server.open_connections() > 0) co_await pass(1ms);
    CHECK(gone == 0);
  });
}

TEST_CASE("draining answers what is in progress, closes what is idle, and takes nothing new") {
  Event begun, go_on;
  ServerBench bench([&](HttpRequest& request) -> asio::awaitable<HttpResponse> {
    if (request.path == "/slow") {
      begun.set();
      co_await go_on.wait();
    }
    HttpResponse response;
    response.body = request.path;
    co_return response;
  });
  wire::run(bench.context, [&]() -> asio::awaitable<void> {
    RawClient idle(bench.context), slow(bench.context), never(bench.context);
    co_await idle.connect(bench.endpoint);
    co_await idle.send(get("/"));
    CHECK(status_of(co_await idle.read_response()) == 200);
    co_await slow.connect(bench.endpoint);
    co_await slow.send(get("/slow"));
    co_await begun.wait();

    Event drained;
    asio::co_spawn(bench.context, bench.server.drain(10s), [&](std::exception_ptr) { drained.set(); });
    CHECK(co_await idle.read_to_end() == "");
    const auto [error] = co_await never.socket().async_connect(bench.endpoint, as_result);
    CHECK(error == asio::error::connection_refused);
    CHECK(!drained.is_set());
    go_on.set();
    const auto answered = co_await slow.read_to_end();
    CHECK(body_of(answered) == "/slow");
    CHECK(answered.find("Connection: close") != std::string::npos);
    co_await drained.wait();
    CHECK(bench.server.open_connections() == 0);
  });
}

TEST_CASE("draining does not wait longer than its time for a handler that does not end") {
  Event begun, never;
  ServerBench bench([&](HttpRequest&) -> asio::awaitable<HttpResponse> {
    begun.set();
    co_await never.wait();
    co_return HttpResponse{};
  });
  wire::run(bench.context, [&]() -> asio::awaitable<void> {
    RawClient client(bench.context);
    co_await client.connect(bench.endpoint);
    co_await client.send(get("/"));
    co_await begun.wait();
    const auto begin = std::chrono::steady_clock::now();
    co_await bench.server.drain(50ms);
    const Duration took = std::chrono::steady_clock::now() - begin;
    CHECK(took >= 50ms);
    CHECK(took < 5s);
    never.set();
    co_await client.read_to_end();
    while (bench.server.open_connections() > 0) co_await pass(1ms);
  });
}

TEST_CASE("a port that is taken is an error that names it") {
  asio::io_context context(1);
  tcp::acceptor taken(context, any_loopback_port());
  HttpServer server(context.get_executor(), {}, {});
  const auto bound = server.listen(taken.local_endpoint());
  REQUIRE(bound.has_error());
  CHECK(bound.error().code == Errc::io);
  CHECK(bound.error().context.find(std::to_string(taken.local_endpoint().port())) != std::string::npos);
}
