#include "tests/peers/http_connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

namespace {

constexpr std::size_t largest_answer = 64 << 20;

Error failed(const char* what) {
  const int code = errno;
  const bool late = code == EAGAIN || code == EWOULDBLOCK || code == ETIMEDOUT;
  return {late ? Errc::expired : Errc::unavailable, std::string(what) + ": " + std::generic_category().message(code)};
}

std::optional<std::size_t> whole_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::string_view> header_value(std::string_view headers, std::string_view name) {
  for (std::size_t begin = 0; begin < headers.size();) {
    const std::size_t end = std::min(headers.find("\r\n", begin), headers.size());
    const std::string_view line = headers.substr(begin, end - begin);
    if (line.size() > name.size() && line[name.size()] == ':' && ::strncasecmp(line.data(), name.data(), name.size()) == 0) {
      const std::size_t value = line.find_first_not_of(" \t", name.size() + 1);
      return value == std::string_view::npos ? std::string_view() : line.substr(value);
    }
    begin = end + 2;
  }
  return std::nullopt;
}

result<HttpConnection> HttpConnection::to(const std::string& address) {
  const std::string bare = address.starts_with("http://") ? address.substr(7) : address;
  const auto colon = bare.find(':');
  in_addr number{};
  const auto port = colon == std::string::npos ? std::nullopt : whole_number(std::string_view(bare).substr(colon + 1));
  if (!port || *port > 65535 || ::inet_pton(AF_INET, bare.substr(0, colon).c_str(), &number) != 1) {
    return Error{Errc::invalid_argument, "'" + address + "' is no address; write 127.0.0.1:7080"};
  }
  return HttpConnection(number.s_addr, static_cast<std::uint16_t>(*port), bare);
}

HttpConnection::HttpConnection(std::uint32_t address, std::uint16_t port, std::string host)
    : address_(address), port_(port), host_(std::move(host)) {}
HttpConnection::HttpConnection(HttpConnection&& other) noexcept
    : address_(other.address_), port_(other.port_), host_(std::move(other.host_)), socket_(std::exchange(other.socket_, -1)) {}
HttpConnection::~HttpConnection() { close(); }

void HttpConnection::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  received_.clear();
}

result<HttpAnswer> HttpConnection::get(std::string_view target) {
  if (socket_ < 0) {
    if (const auto connected = connect(); !connected) return connected.error();
  }
  request_.assign("GET ").append(target).append(" HTTP/1.1\r\nHost: ").append(host_).append("\r\n\r\n");
  received_.clear();
  const auto sent = send_all(request_);
  auto answer = sent ? receive() : result<HttpAnswer>(sent.error());
  if (answer.has_error()) close();
  return answer;
}

result<void> HttpConnection::connect() {
  socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return failed("socket");
  const timeval longest{longest_wait_ms / 1000, 0};
  const int on = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = address_;
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return {};
  const Error error = failed("connect");
  close();
  return error;
}

result<void> HttpConnection::send_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0) return failed("send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

result<void> HttpConnection::receive_more() {
  std::array<char, 16384> buffer;
  const auto size = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (size < 0) return failed("receive");
  if (size == 0) return Error{Errc::unavailable, "the server closed the connection"};
  received_.append(buffer.data(), static_cast<std::size_t>(size));
  return {};
}

result<HttpAnswer> HttpConnection::receive() {
  const Error foreign{Errc::protocol, "an answer that is not understood"};
  std::size_t headers_end = std::string::npos;
  while ((headers_end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (received_.size() > largest_answer) return foreign;
    if (const auto more = receive_more(); !more) return more.error();
  }
  const std::size_t body_begin = headers_end + 4;
  const auto length_text = header_value(std::string_view(received_).substr(0, headers_end), "Content-Length");
  const auto length = length_text ? whole_number(*length_text) : std::nullopt;
  // "HTTP/1.1 200 OK"
  const auto status = received_.starts_with("HTTP/1.1 ") ? whole_number(std::string_view(received_).substr(9, 3)) : std::nullopt;
  if (!length || *length > largest_answer || !status) return foreign;
  while (received_.size() < body_begin + *length) {
    if (const auto more = receive_more(); !more) return more.error();
  }
  const std::string_view all = received_;
  return HttpAnswer{static_cast<int>(*status), all.substr(0, headers_end), all.substr(body_begin, *length)};
}

}  // namespace hedgerow::peers
