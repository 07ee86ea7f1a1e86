#include "wire/link.hpp"

#include <list>
#include <vector>

#include "loopback.hpp"
#include "wire/codec.hpp"
#include "wire/http_server.hpp"

using namespace hedgerow;
using namespace hedgerow::wire;
using namespace std::chrono_literals;

namespace {

Cancel cancel(std::uint64_t call, std::size_t partitions = 0) { return {CallId{call}, std::vector<PartitionId>(partitions)}; }

// A server that offers links, and clients on the same loop.
class LinkBench {
 public:
  explicit LinkBench(HttpServer::LinkHandler handler, LinkSettings settings = {})
      : server(
            context.get_executor(), server_settings(settings),
            [](HttpRequest&) -> asio::awaitable<HttpResponse> {
              HttpResponse response;
              response.status = 404;
              co_return response;
            },
            std::move(handler)) {
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

  asio::awaitable<std::shared_ptr<Link>> connect(LinkSettings settings = {}) {
    auto link = co_await connect_link(endpoint, settings);
    if (link.has_error()) FAIL(to_string(link.error()));
    co_return *link;
  }

  // Runs the link beside the test; its end is in ended when that is set.
  void start(std::shared_ptr<Link> link, Link::Handler handler) {
    asio::co_spawn(context, link->run(std::move(handler)), [this, link](std::exception_ptr, Error error) {
      end = std::move(error);
      ended.set();
    });
  }

  asio::io_context context{1};
  HttpServer server;
  tcp::endpoint endpoint;
  Event ended;
  Error end;

 private:
  static HttpServerSettings server_settings(LinkSettings link) {
    HttpServerSettings settings;
    settings.link = link;
    return settings;
  }
};

result<void> ignore(Message&&) { return {}; }

// Sends every message back.
asio::awaitable<void> echo_frames(std::shared_ptr<Link> link) {
  co_await link->run([link](Message&& message) -> result<void> {
    link->send(message);
    return {};
  });
}

// What a WebSocket client sends (RFC 6455): a final binary frame, masked with zeros.
std::string client_frame(const std::string& payload) {
  REQUIRE(payload.size() < 126);
  return std::string("\x82") + static_cast<char>(0x80 | payload.size()) + std::string(4, '\0') + payload;
}

const std::string upgrade = std::string("GET ") + link_path +
                            " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

}  // namespace

TEST_CASE("messages go both ways and keep their order, ten thousand of them sent at once") {
  LinkBench bench(echo_frames);
  bench.run([&]() -> asio::awaitable<void> {
    const auto link = co_await bench.connect();
    CHECK(link->peer() == "127.0.0.1:" + std::to_string(bench.endpoint.port()));
    std::uint64_t next = 1;
    bool in_order = true;
    Event all;
    bench.start(link, [&](Message&& message) -> result<void> {
      in_order = in_order && std::get<Cancel>(message).call == CallId{next};
      if (next++ == 10'000) all.set();
      return {};
    });
    std::size_t bytes = 0;
    for (std::uint64_t call = 1; call <= 10'000; ++call) {
      const auto sent = link->send(cancel(call));
      CHECK(sent > 0);
      bytes += sent;
    }
    CHECK(bytes < 10'000 * 16);
    co_await all.wait();
    CHECK(in_order);
    link->close({Errc::cancelled, "done"});
    co_await bench.ended.wait();
  });
}

TEST_CASE("a message of a megabyte arrives whole") {
  LinkBench bench(echo_frames);
  bench.run([&]() -> asio::awaitable<void> {
    const auto link = co_await bench.connect();
    PartitionFailure big;
    big.detail = std::string(1 << 20, 'x');
    link->send(big);
    Event came;
    bench.start(link, [&](Message&& message) -> result<void> {
      CHECK(std::get<PartitionFailure>(message).detail == big.detail);
      came.set();
      return {};
    });
    co_await came.wait();
    link->close({Errc::cancelled, "done"});
    co_await bench.ended.wait();
  });
}

TEST_CASE("a link that is closed says why, ends its peer's, and sends nothing more") {
  Event server_ended;
  Error server_end;
  LinkBench bench([&](std::shared_ptr<Link> link) -> asio::awaitable<void> {
    server_end = co_await link->run(ignore);
    server_ended.set();
  });
  bench.run([&]() -> asio::awaitable<void> {
    const auto link = co_await bench.connect();
    bench.start(link, ignore);
    link->close({Errc::refused, "not you"});
    link->close({Errc::internal, "a later reason"});
    co_await bench.ended.wait();
    CHECK(bench.end.code == Errc::refused);
    CHECK(bench.end.context == "not you");
    CHECK(link->send(cancel(1)) == 0);
    co_await server_ended.wait();
    CHECK(server_end.code == Errc::unavailable);
  });
}

TEST_CASE("a peer that goes away ends the link at once") {
  LinkBench bench([](std::shared_ptr<Link> link) -> asio::awaitable<void> {
    link->close({Errc::cancelled, "going"});
    co_return;
  });
  bench.run([&]() -> asio::awaitable<void> {
    const auto link = co_await bench.connect();
    bench.start(link, ignore);
    co_await bench.ended.wait();
    CHECK(bench.end.code == Errc::unavailable);
  });
}

TEST_CASE("draining the server ends its links") {
  LinkBench bench(echo_frames);
  bench.run([&]() -> asio::awaitable<void> {
    const auto link = co_await bench.connect();
    bench.start(link, ignore);
    co_await bench.server.drain(5s);
    CHECK(bench.server.open_connections() == 0);
    co_await bench.ended.wait();
    CHECK(bench.end.code == Errc::unavailable);
  });
}

TEST_CASE("a peer that accepts but never reads nor answers is given up after the idle time") {
  Event over;
  LinkBench bench([&](std::shared_ptr<Link>) -> asio::awaitable<void> { co_await over.wait(); });
  bench.run([&]() -> asio::awaitable<void> {
    LinkSettings settings;
    settings.idle_time = 100ms;
    const auto link = co_await bench.connect(settings);
    const auto begin = std::chrono::steady_clock::now();
    bench.start(link, ignore);
    co_await bench.ended.wait();
    const Duration took = std::chrono::steady_clock::now() - begin;
    CHECK(bench.end.code == Errc::expired);
    CHECK(bench.end.context.find("100ms") != std::string::npos);
    CHECK(took >= 90ms);
    CHECK(took < 5s);
    over.set();
  });
}

TEST_CASE("a link on which nothing is said stays: pings are answered") {
  LinkBench bench([](std::shared_ptr<Link> link) -> asio::awaitable<void> { co_await link->run(ignore); });
  bench.run([&]() -> asio::awaitable<void> {
    LinkSettings settings;
    settings.idle_time = 400ms;
    const auto link = co_await bench.connect(settings);
    bench.start(link, ignore);
    co_await pass(1300ms);
    CHECK(!bench.ended.is_set());
    CHECK(link->send(cancel(1)) > 0);
    link->close({Errc::cancelled, "done"});
    co_await bench.ended.wait();
  });
}

TEST_CASE("a frame beyond the reader's bound ends the link as a break of the protocol") {
  LinkBench bench([](std::shared_ptr<Link> link) -> asio::awaitable<void> {
    link->send(cancel(1, 10));
    co_await link->run([link](Message&&) -> result<void> {
      link->send(cancel(2, 1000));
      return {};
    });
  });
  bench.run([&]() -> asio::awaitable<void> {
    LinkSettings settings;
    settings.frame_bytes = 1000;
    const auto link = co_await bench.connect(settings);
    std::vector<std::uint64_t> came;
    bench.start(link, [&](Message&& message) -> result<void> {
      came.push_back(std::get<Cancel>(message).call.value);
      link->send(cancel(3));
      return {};
    });
    co_await bench.ended.wait();
    CHECK(bench.end.code == Errc::protocol);
    REQUIRE(came.size() == 1);
    CHECK(came.front() == 1);
  });
}

TEST_CASE("a queue that grows beyond its bound, since the peer does not read, closes the link") {
  Event over;
  LinkBench bench([&](std::shared_ptr<Link>) -> asio::awaitable<void> { co_await over.wait(); });
  bench.run([&]() -> asio::awaitable<void> {
    LinkSettings settings;
    settings.send_queue_bytes = 1 << 20;
    settings.idle_time = 20s;
    const auto link = co_await bench.connect(settings);
    bench.start(link, ignore);
    // The kernel takes some megabytes; then the queue grows.
    std::size_t sent = 0;
    while (const auto bytes = link->send(cancel(1, 10'000))) {
      sent += bytes;
      REQUIRE(sent < (256u << 20));
      co_await pass(0ms);
    }
    CHECK(sent > (1 << 20));
    CHECK(link->send(cancel(1)) == 0);
    co_await bench.ended.wait();
    CHECK(bench.end.code == Errc::too_large);
    over.set();
  });
}

TEST_CASE("an error of the handler's ends the link, and what came behind it is not handled") {
  LinkBench bench([](std::shared_ptr<Link> link) -> asio::awaitable<void> {
    for (std::uint64_t call = 1; call <= 5; ++call) link->send(cancel(call));
    co_await link->run(ignore);
  });
  bench.run([&]() -> asio::awaitable<void> {
    const auto link = co_await bench.connect();
    std::uint64_t handled = 0;
    bench.start(link, [&](Message&&) -> result<void> {
      if (++handled == 3) return Error{Errc::protocol, "a third message"};
      return {};
    });
    co_await bench.ended.wait();
    CHECK(handled == 3);
    CHECK(bench.end.code == Errc::protocol);
    CHECK(bench.end.context == "a third message");
  });
}

TEST_CASE("a peer that sends what is no message ends the link as a break of the protocol, and no other link") {
  Event over;
  std::vector<Errc> ends;
  std::size_t handled = 0;
  LinkBench bench([&](std::shared_ptr<Link> link) -> asio::awaitable<void> {
    const auto end = co_await link->run([&handled](Message&&) -> result<void> {
      ++handled;
      return {};
    });
    ends.push_back(end.code);
    over.set();
  });
  FrameBuilder builder;
  builder.append(cancel(1));
  const auto valid = builder.take();
  bench.run([&]() -> asio::awaitable<void> {
    const auto healthy = co_await bench.connect();
    bench.start(healthy, ignore);
    const std::vector<std::string> hostile{client_frame("hello"), client_frame(""), client_frame(std::string(100, '\x9f')),
                                           client_frame(valid + "x"), client_frame(valid) + client_frame("\xff")};
    for (const auto& bytes : hostile) {
      over.clear();
      RawClient client(bench.context);
      co_await client.connect(bench.endpoint);
      co_await client.send(upgrade);
      const auto accepted = co_await client.read_response(false);
      CHECK(status_of(accepted) == 101);
      CHECK(accepted.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos);  // RFC 6455's own example
      co_await client.send(bytes);
      co_await over.wait();
      CHECK(ends.back() == Errc::protocol);
      co_await client.read_to_end();
    }
    CHECK(handled == 1);  // the valid frame in front of the last
    CHECK(!bench.ended.is_set());
    healthy->close({Errc::cancelled, "done"});
    co_await bench.ended.wait();
  });
}

TEST_CASE("bytes that are no WebSocket frame end the link, and the server goes on") {
  Event over;
  LinkBench bench([&](std::shared_ptr<Link> link) -> asio::awaitable<void> {
    co_await link->run(ignore);
    over.set();
  });
  bench.run([&]() -> asio::awaitable<void> {
    RawClient client(bench.context);
    co_await client.connect(bench.endpoint);
    co_await client.send(upgrade);
    co_await client.read_response(false);
    co_await client.send(std::string(200, '\x7f'));
    co_await over.wait();
    const auto next = co_await bench.connect();
    bench.start(next, ignore);
    next->close({Errc::cancelled, "done"});
    co_await bench.ended.wait();
  });
}

TEST_CASE("an upgrade from a foreign page or host makes no link") {
  bool linked = false;
  LinkBench bench([&](std::shared_ptr<Link>) -> asio::awaitable<void> {
    linked = true;
    co_return;
  });
  bench.run([&]() -> asio::awaitable<void> {
    for (const std::string more : {"Origin: http://example.org\r\n", "Origin: null\r\n"}) {
      RawClient client(bench.context);
      co_await client.connect(bench.endpoint);
      auto request = upgrade;
      request.insert(request.find("Connection:"), more);
      co_await client.send(request);
      CHECK(status_of(co_await client.read_response()) == 403);
    }
    CHECK(!linked);
  });
}

TEST_CASE("who does not listen is unavailable, who listens and offers no links breaks the protocol") {
  asio::io_context context(1);
  HttpServer plain(context.get_executor(), {}, [](HttpRequest&) -> asio::awaitable<HttpResponse> {
    HttpResponse response;
    response.status = 404;
    co_return response;
  });
  const auto plain_endpoint = plain.listen(any_loopback_port());
  tcp::acceptor silent(context, any_loopback_port()), chatty(context, any_loopback_port());
  tcp::endpoint nobody;
  {
    tcp::acceptor closed_again(context, any_loopback_port());
    nobody = closed_again.local_endpoint();
  }
  run(context, [&]() -> asio::awaitable<void> {
    LinkSettings settings;
    settings.connect_time = 100ms;
    CHECK((co_await connect_link(nobody, settings)).error().code == Errc::unavailable);
    CHECK((co_await connect_link(*plain_endpoint, settings)).error().code == Errc::protocol);

    // Connected by the kernel, and never answered.
    const auto begin = std::chrono::steady_clock::now();
    CHECK((co_await connect_link(silent.local_endpoint(), settings)).error().code == Errc::unavailable);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);

    asio::co_spawn(
        context,
        [&]() -> asio::awaitable<void> {
          auto socket = co_await chatty.async_accept(asio::use_awaitable);
          const std::string banner = "220 mail.example.org ESMTP\r\n";
          co_await asio::async_write(socket, asio::buffer(banner), as_result);
          co_await pass(20ms);
        },
        asio::detached);
    CHECK((co_await connect_link(chatty.local_endpoint(), settings)).error().code == Errc::protocol);
    co_await plain.drain(1s);
  });
}
