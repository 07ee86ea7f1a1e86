#include "tests/peers/delay_proxy.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>

#include "base/steady_clock.hpp"
#include "wire/as_result.hpp"

namespace hedgerow::peers {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using wire::as_result;

// What of an answer may wait here; beyond it the server's own sending comes to a stop.
constexpr std::size_t most_waiting_bytes = 16 << 20;

// One client's connection, with the one to the server. Lives as long as one of its coroutines runs, and each of them ends
// when the sockets are closed.
struct ProxiedConnection {
  ProxiedConnection(asio::io_context& context, tcp::socket c, const Duration& d)
      : client(std::move(c)), server(context), delay(d), changed(context, asio::steady_timer::time_point::max()), pause(context) {}

  void close() {
    boost::system::error_code ignored;
    client.close(ignored);
    server.close(ignored);
    changed.cancel();
    pause.cancel();
  }

  struct Piece {
    Instant due;
    std::string bytes;
  };

  tcp::socket client, server;
  const Duration& delay;
  std::deque<Piece> waiting;
  std::size_t waiting_bytes = 0;
  bool server_ended = false;
  asio::steady_timer changed, pause;  // changed: cancelled whenever something of the above has changed
};
using Shared = std::shared_ptr<ProxiedConnection>;

asio::awaitable<void> carry_questions(Shared connection) {
  std::array<char, 16384> buffer;
  for (;;) {
    const auto [error, size] = co_await connection->client.async_read_some(asio::buffer(buffer), as_result);
    if (error) break;
    const auto [write_error, written] = co_await asio::async_write(connection->server, asio::buffer(buffer, size), as_result);
    if (write_error) break;
  }
  connection->close();
}

asio::awaitable<void> take_answers(Shared connection) {
  std::array<char, 16384> buffer;
  for (;;) {
    while (connection->waiting_bytes > most_waiting_bytes && connection->client.is_open()) {
      co_await connection->changed.async_wait(as_result);
    }
    const auto [error, size] = co_await connection->server.async_read_some(asio::buffer(buffer), as_result);
    if (error) break;
    connection->waiting.push_back({clock_now() + connection->delay, std::string(buffer.data(), size)});
    connection->waiting_bytes += size;
    connection->changed.cancel();
  }
  connection->server_ended = true;
  connection->changed.cancel();
}

asio::awaitable<void> give_answers(Shared connection) {
  for (;;) {
    while (connection->waiting.empty() && !connection->server_ended && connection->client.is_open()) {
      co_await connection->changed.async_wait(as_result);
    }
    if (connection->waiting.empty() || !connection->client.is_open()) break;
    const ProxiedConnection::Piece piece = std::move(connection->waiting.front());
    connection->waiting.pop_front();
    connection->waiting_bytes -= piece.bytes.size();
    connection->changed.cancel();
    if (piece.due > clock_now()) {
      connection->pause.expires_at(piece.due);
      co_await connection->pause.async_wait(as_result);
    }
    const auto [error, written] = co_await asio::async_write(connection->client, asio::buffer(piece.bytes), as_result);
    if (error) break;
  }
  connection->close();
}

asio::awaitable<void> carry(Shared connection, tcp::endpoint server) {
  const auto [error] = co_await connection->server.async_connect(server, as_result);
  if (error) co_return connection->close();
  for (auto* socket : {&connection->client, &connection->server}) {
    boost::system::error_code ignored;
    socket->set_option(tcp::no_delay(true), ignored);
  }
  const auto executor = connection->client.get_executor();
  asio::co_spawn(executor, take_answers(connection), asio::detached);
  asio::co_spawn(executor, give_answers(connection), asio::detached);
  co_await carry_questions(connection);
}

asio::awaitable<void> accept_clients(asio::io_context& context, tcp::acceptor& acceptor, tcp::endpoint server, const Duration& delay) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(as_result);
    if (error) co_return;
    asio::co_spawn(context, carry(std::make_shared<ProxiedConnection>(context, std::move(socket), delay), server), asio::detached);
  }
}

asio::awaitable<void> obey(asio::signal_set& signals, asio::io_context& context, const Duration& wanted, Duration& delay) {
  for (;;) {
    const auto [error, signal] = co_await signals.async_wait(as_result);
    if (error || (signal != SIGUSR1 && signal != SIGUSR2)) break;
    delay = signal == SIGUSR1 ? wanted : Duration::zero();
  }
  context.stop();
}

}  // namespace

int run_delay_proxy(const DelayProxySettings& settings) {
  asio::io_context context(1);
  const auto loopback = asio::ip::address_v4::loopback();
  asio::signal_set signals(context, SIGUSR1, SIGUSR2, SIGTERM);
  signals.add(SIGINT);
  boost::system::error_code error;
  tcp::acceptor acceptor(context);
  acceptor.open(tcp::v4(), error);
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind({loopback, settings.listen}, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    std::fprintf(stderr, "hedgerow-peers: port %u: %s\n", settings.listen, error.message().c_str());
    return 1;
  }
  Duration delay{};
  asio::co_spawn(context, accept_clients(context, acceptor, {loopback, settings.server}, delay), asio::detached);
  asio::co_spawn(context, obey(signals, context, settings.delay, delay), asio::detached);
  context.run();
  return 0;
}

}  // namespace hedgerow::peers
