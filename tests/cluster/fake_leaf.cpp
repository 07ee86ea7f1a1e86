#include "fake_leaf.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include "wire/codec.hpp"

namespace hedgerow::test {

namespace {

// The answer to a Sec-WebSocket-Key: the SHA-1 of key and a fixed text, in base64 (RFC 6455, 4.2.2).
std::string accept_value(const std::string& key) {
  const std::string text = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  unsigned char digest[SHA_DIGEST_LENGTH];
  ::SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  unsigned char encoded[2 * SHA_DIGEST_LENGTH];
  const int size = ::EVP_EncodeBlock(encoded, digest, sizeof digest);
  return {encoded, encoded + size};
}

}  // namespace

bool FakeConnection::read_exactly(char* out, std::size_t size) {
  while (size > 0) {
    const auto got = ::recv(socket_, out, size, 0);
    if (got <= 0) return false;
    out += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<std::string> FakeConnection::read_head() {
  std::string head;
  for (char byte; !head.ends_with("\r\n\r\n"); head += byte) {
    if (!read_exactly(&byte, 1)) return std::nullopt;
  }
  return head;
}

bool FakeConnection::shake_hands() {
  const auto head = read_head();
  if (!head) return false;
  std::string lower = *head;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string name = "sec-websocket-key: ";
  const auto at = lower.find(name);
  if (at == std::string::npos) return false;
  const auto begin = at + name.size();
  const auto key = head->substr(begin, head->find("\r\n", begin) - begin);
  send_raw("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
           accept_value(key) + "\r\n\r\n");
  return true;
}

void FakeConnection::send_raw(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

void FakeConnection::send_frame(unsigned char first_byte, std::string_view payload) {
  std::string frame{static_cast<char>(first_byte)};
  const auto append_length = [&](int bytes) {
    for (int i = bytes - 1; i >= 0; --i) frame += static_cast<char>(payload.size() >> (8 * i) & 0xff);
  };
  if (payload.size() < 126) {
    append_length(1);
  } else if (payload.size() < 65'536) {
    frame += char{126};
    append_length(2);
  } else {
    frame += char{127};
    append_length(8);
  }
  frame += payload;
  send_raw(frame);
}

void FakeConnection::send_frame(std::string_view payload) { send_frame(0x82, payload); }

void FakeConnection::send(const wire::Message& message) {
  wire::FrameBuilder builder;
  builder.append(message);
  send_frame(builder.take());
}

std::optional<std::vector<wire::Message>> FakeConnection::receive() {
  while (true) {
    std::array<char, 2> head;
    if (!read_exactly(head.data(), head.size())) return std::nullopt;
    const int opcode = head[0] & 0x0f;
    std::uint64_t length = static_cast<unsigned char>(head[1]) & 0x7f;
    if (length >= 126) {
      std::array<char, 8> wide;
      const std::size_t bytes = length == 126 ? 2 : 8;
      if (!read_exactly(wide.data(), bytes)) return std::nullopt;
      length = 0;
      for (std::size_t i = 0; i < bytes; ++i) length = length << 8 | static_cast<unsigned char>(wide[i]);
    }
    std::array<char, 4> mask;
    std::string payload(length, '\0');
    if (!read_exactly(mask.data(), mask.size()) || !read_exactly(payload.data(), payload.size())) return std::nullopt;
    for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = static_cast<char>(payload[i] ^ mask[i % 4]);
    if (opcode == 0x9) send_frame(0x8a, payload);
    if (opcode == 0x8) return std::nullopt;
    if (opcode != 0x2) continue;
    auto messages = wire::decode_frame(payload);
    if (messages.has_error()) throw std::runtime_error("the root sent " + to_string(messages.error()));
    return *messages;
  }
}

FakeLeaf::FakeLeaf(Behaviour behaviour)
    : behaviour_(std::move(behaviour)), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 64) != 0 || ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("a fake leaf cannot listen");
  }
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] {
    while (!stopping_) {
      const int socket = ::accept(listener_, nullptr, nullptr);
      if (socket < 0) continue;
      ++connections_;
      const std::lock_guard lock(mutex_);
      if (stopping_) {
        ::close(socket);
        return;
      }
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] {
        FakeConnection connection(socket);
        behaviour_(connection);
        const std::lock_guard closing(mutex_);
        sockets_.remove(socket);
        ::close(socket);
      });
    }
  });
}

FakeLeaf::~FakeLeaf() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int socket : sockets_) ::shutdown(socket, SHUT_RDWR);
  }
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (auto& thread : threads_) thread.join();
  ::close(listener_);
}

}  // namespace hedgerow::test
