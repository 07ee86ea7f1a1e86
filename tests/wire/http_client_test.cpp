#include "wire/http_client.hpp"

#include <functional>
#include <vector>

#include "loopback.hpp"

using namespace hedgerow;
using namespace hedgerow::wire;
using namespace std::chrono_literals;

namespace {

// A server of raw bytes: each connection is given to the handler, one after another.
class RawServer {
 public:
  using Handler = std::function<asio::awaitable<void>(tcp::socket&, int number)>;
  RawServer(asio::io_context& context, Handler handler) : acceptor_(context, any_loopback_port()), handler_(std::move(handler)) {
    asio::co_spawn(context, serve(), [](std::exception_ptr) {});
  }
  tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }
  int connections() const { return connections_; }
  void close() { acceptor_.close(); }

 private:
  asio::awaitable<void> serve() {
    while (true) {
      auto [error, socket] = co_await acceptor_.async_accept(as_result);
      if (error) co_return;
      co_await handler_(socket, ++connections_);
    }
  }
  tcp::acceptor acceptor_;
  Handler handler_;
  int connections_ = 0;
};

asio::awaitable<bool> read_request(tcp::socket& socket) {
  std::string request;
  const auto [error, size] = co_await asio::async_read_until(socket, asio::dynamic_buffer(request), "\r\n\r\n", as_result);
  co_return !error;
}

asio::awaitable<void> write(tcp::socket& socket, std::string bytes) {
  co_await asio::async_write(socket, asio::buffer(bytes), as_result);
}

std::string ok(const std::string& body, const std::string& more = "") {
  return "HTTP/1.1 200 OK\r\n" + more + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

TEST_CASE("one connection carries request after request, and a close that the server announced is no error") {
  asio::io_context context(1);
  RawServer server(context, [](tcp::socket& socket, int number) -> asio::awaitable<void> {
    for (int i = 1; i <= 3; ++i) {
      if (!co_await read_request(socket)) co_return;
      const bool closing = number == 1 && i == 3;
      co_await write(socket, ok(std::to_string(number) + ":" + std::to_string(i), closing ? "Connection: close\r\n" : ""));
      if (closing) co_return;
    }
  });
  run(context, [&]() -> asio::awaitable<void> {
    HttpClient client(context.get_executor(), server.endpoint());
    std::vector<std::string> bodies;
    for (int i = 0; i < 5; ++i) {
      const auto response = co_await client.request("GET", "/", "", 5s);
      REQUIRE(response.has_value());
      bodies.push_back(response->body);
    }
    CHECK(bodies == std::vector<std::string>{"1:1", "1:2", "1:3", "2:1", "2:2"});
    client.close();
    server.close();
  });
}

TEST_CASE("a kept connection that the server closed meanwhile is replaced, once") {
  asio::io_context context(1);
  RawServer server(context, [](tcp::socket& socket, int number) -> asio::awaitable<void> {
    co_await read_request(socket);
    // The third connection ends without an answer, and so does what follows.
    if (number <= 2) co_await write(socket, ok(std::to_string(number)));
  });
  run(context, [&]() -> asio::awaitable<void> {
    HttpClient client(context.get_executor(), server.endpoint());
    CHECK((co_await client.request("GET", "/", "", 5s))->body == "1");
    co_await pass(20ms);
    CHECK((co_await client.request("GET", "/", "", 5s))->body == "2");
    co_await pass(20ms);
    const auto lost = co_await client.request("GET", "/", "", 5s);
    REQUIRE(lost.has_error());
    CHECK(lost.error().code == Errc::unavailable);
    CHECK(server.connections() == 3);
    server.close();
  });
}

TEST_CASE("nobody there, no answer in time, and an answer that is not HTTP are different errors") {
  asio::io_context context(1);
  tcp::endpoint nobody;
  {
    tcp::acceptor closed_again(context, any_loopback_port());
    nobody = closed_again.local_endpoint();
  }
  RawServer silent(context, [](tcp::socket& socket, int) -> asio::awaitable<void> {
    bool more = true;
    while (more) more = co_await read_request(socket);
  });
  RawServer garbage(context, [](tcp::socket& socket, int) -> asio::awaitable<void> {
    co_await read_request(socket);
    co_await write(socket, "220 mail.example.org ESMTP\r\n\r\n");
  });
  run(context, [&]() -> asio::awaitable<void> {
    HttpClient to_nobody(context.get_executor(), nobody), to_silent(context.get_executor(), silent.endpoint()),
        to_garbage(context.get_executor(), garbage.endpoint());
    CHECK((co_await to_nobody.request("GET", "/", "", 5s)).error().code == Errc::unavailable);
    const auto begin = std::chrono::steady_clock::now();
    CHECK((co_await to_silent.request("GET", "/", "", 50ms)).error().code == Errc::expired);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    CHECK((co_await to_garbage.request("GET", "/", "", 5s)).error().code == Errc::protocol);
    silent.close();
    garbage.close();
  });
}

TEST_CASE("after an answer came too late, the next request does not get it") {
  asio::io_context context(1);
  RawServer server(context, [](tcp::socket& socket, int number) -> asio::awaitable<void> {
    bool more = co_await read_request(socket);
    for (; more; more = co_await read_request(socket)) {
      if (number == 1) co_await pass(100ms);
      co_await write(socket, ok("connection " + std::to_string(number)));
    }
  });
  run(context, [&]() -> asio::awaitable<void> {
    HttpClient client(context.get_executor(), server.endpoint());
    CHECK((co_await client.request("GET", "/late", "", 20ms)).error().code == Errc::expired);
    const auto next = co_await client.request("GET", "/next", "", 5s);
    REQUIRE(next.has_value());
    CHECK(next->body == "connection 2");
    client.close();
    server.close();
  });
}

TEST_CASE("addresses are read with and without a scheme, and nonsense is refused") {
  asio::io_context context(1);
  run(context, []() -> asio::awaitable<void> {
    for (const char* address : {"127.0.0.1:7080", "http://127.0.0.1:7080", "http://127.0.0.1:7080/"}) {
      const auto endpoint = co_await resolve_address(address);
      REQUIRE(endpoint.has_value());
      CHECK(endpoint->address().to_string() == "127.0.0.1");
      CHECK(endpoint->port() == 7080);
    }
    CHECK((co_await resolve_address("[::1]:80"))->address().to_string() == "::1");
    for (const char* address : {"", "127.0.0.1", ":7080", "host:", "http://"}) {
      CAPTURE(address);
      CHECK((co_await resolve_address(address)).error().code == Errc::invalid_argument);
    }
  });
}
