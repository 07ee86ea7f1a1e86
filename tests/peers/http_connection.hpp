// A kept-alive HTTP/1.1 connection that blocks: the plainest client there can be, since a load generator runs on the same
// cores as what it measures, and the peers' clients block as well.
//
// Used by one thread. Knows answers with a Content-Length only, which is what the root sends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hedgerow::peers {

struct HttpAnswer {
  int status = 0;
  // Both until the next question.
  std::string_view headers, body;
};

// The value of the first header of that name, in any case.
std::optional<std::string_view> header_value(std::string_view headers, std::string_view name);

class HttpConnection {
 public:
  // "127.0.0.1:7080", an IPv4 address. Errors: invalid_argument.
  static result<HttpConnection> to(const std::string& address);
  HttpConnection(HttpConnection&& other) noexcept;
  HttpConnection& operator=(HttpConnection&&) = delete;
  ~HttpConnection();

  // Connects where there is no connection. After an error there is none.
  // Errors: unavailable (nobody there, or it broke), expired (beyond longest_wait_ms), protocol (not what is known here).
  result<HttpAnswer> get(std::string_view target);

 private:
  HttpConnection(std::uint32_t address, std::uint16_t port, std::string host);
  result<void> connect();
  result<void> send_all(std::string_view bytes);
  result<void> receive_more();
  result<HttpAnswer> receive();
  void close();

  std::uint32_t address_;  // as the network has it
  std::uint16_t port_;
  std::string host_;
  int socket_ = -1;
  std::string request_, received_;
};

}  // namespace hedgerow::peers
