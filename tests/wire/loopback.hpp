// What the socket tests of wire/ share: one loop on which server and client run, and a client that sends raw bytes.
#pragma once

#include <doctest/doctest.h>

#include <boost/asio.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "wire/as_result.hpp"

namespace hedgerow::wire {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

inline tcp::endpoint any_loopback_port() { return {asio::ip::address_v4::loopback(), 0}; }

// Runs the test's coroutine to its end on the loop; what it throws, it throws. Fails when it takes unreasonably long.
template <class Coroutine>
void run(asio::io_context& context, Coroutine coroutine) {
  bool ended = false;
  asio::co_spawn(context, coroutine(), [&](std::exception_ptr problem) {
    ended = true;
    if (problem) std::rethrow_exception(problem);
  });
  context.restart();
  context.run_for(std::chrono::seconds(30));
  REQUIRE(ended);
}

inline asio::awaitable<void> pass(Duration time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(as_result);
}

// A condition that one coroutine sets and others wait for. Outlives those who wait.
class Event {
 public:
  void set() {
    set_ = true;
    for (auto* timer : waiting_) timer->cancel();
  }
  void clear() { set_ = false; }
  bool is_set() const { return set_; }
  asio::awaitable<void> wait() {
    asio::steady_timer timer(co_await asio::this_coro::executor, asio::steady_timer::time_point::max());
    waiting_.push_back(&timer);
    while (!set_) co_await timer.async_wait(as_result);
    std::erase(waiting_, &timer);
  }

 private:
  std::vector<asio::steady_timer*> waiting_;
  bool set_ = false;
};

class RawClient {
 public:
  explicit RawClient(asio::io_context& context) : socket_(context) {}

  asio::awaitable<void> connect(tcp::endpoint endpoint) { co_await socket_.async_connect(endpoint, asio::use_awaitable); }
  asio::awaitable<void> send(std::string bytes) {
    co_await asio::async_write(socket_, asio::buffer(bytes), as_result);  // a server may close in the middle
  }
  // Everything until the server closes; what came before an abrupt end is kept.
  asio::awaitable<std::string> read_to_end() {
    bool more = true;  // g++ 12 makes a trap of a loop that is nothing but co_await in its condition
    while (more) more = co_await read_some();
    co_return std::exchange(received_, {});
  }
  // The head of one response and as much of a body as its Content-Length says (none, for HEAD).
  asio::awaitable<std::string> read_response(bool with_body = true) {
    std::size_t head = 0;
    bool more = true;
    while ((head = received_.find("\r\n\r\n")) == std::string::npos && more) more = co_await read_some();
    if (head == std::string::npos) co_return std::exchange(received_, {});
    std::size_t size = head + 4;
    constexpr std::string_view name = "Content-Length: ";
    const auto length = received_.find(name);
    if (with_body && length < head) size += std::stoul(received_.substr(length + name.size()));
    while (received_.size() < size && more) more = co_await read_some();
    std::string response = received_.substr(0, size);
    received_.erase(0, size);
    co_return response;
  }
  const std::string& received() const { return received_; }
  tcp::socket& socket() { return socket_; }

 private:
  asio::awaitable<bool> read_some() {
    char chunk[16384];
    const auto [error, size] = co_await socket_.async_read_some(asio::buffer(chunk), as_result);
    received_.append(chunk, size);
    co_return !error;
  }

  tcp::socket socket_;
  std::string received_;
};

// 200 of "HTTP/1.1 200 OK…"; 0 for anything else.
inline int status_of(std::string_view response) {
  return response.starts_with("HTTP/1.1 ") && response.size() >= 12 ? std::atoi(std::string(response.substr(9, 3)).c_str()) : 0;
}

inline std::string body_of(std::string_view response) {
  const auto head = response.find("\r\n\r\n");
  return head == std::string_view::npos ? "" : std::string(response.substr(head + 4));
}

}  // namespace hedgerow::wire
