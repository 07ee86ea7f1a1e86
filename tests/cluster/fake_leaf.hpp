// A leaf that misbehaves on the wire: raw TCP, with the WebSocket handshake and frames made by hand.
//
// Every connection is handed to the behaviour on a thread of its own; all threads end with the fake leaf.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "wire/messages.hpp"

namespace hedgerow::test {

class FakeConnection {
 public:
  explicit FakeConnection(int socket) : socket_(socket) {}

  // Reads the request for a WebSocket and accepts it (RFC 6455).
  bool shake_hands();
  void send_raw(std::string_view bytes);
  // One unfragmented binary frame.
  void send_frame(std::string_view payload);
  void send(const wire::Message& message);
  // The messages of the next binary frame; pings are answered meanwhile. nullopt: the connection has ended.
  std::optional<std::vector<wire::Message>> receive();
  // Answers pings, and nothing else, until the connection ends.
  void stay_silent() {
    while (receive()) {}
  }

 private:
  bool read_exactly(char* out, std::size_t size);
  std::optional<std::string> read_head();
  void send_frame(unsigned char first_byte, std::string_view payload);
  int socket_;
};

class FakeLeaf {
 public:
  using Behaviour = std::function<void(FakeConnection&)>;
  explicit FakeLeaf(Behaviour behaviour);
  ~FakeLeaf();
  FakeLeaf(const FakeLeaf&) = delete;
  FakeLeaf& operator=(const FakeLeaf&) = delete;

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::size_t connections() const { return connections_; }

 private:
  Behaviour behaviour_;
  int listener_;
  std::uint16_t port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> connections_ = 0;
  std::mutex mutex_;
  std::list<int> sockets_;
  std::list<std::thread> threads_;  // of connections
  std::thread acceptor_;
};

}  // namespace hedgerow::test
