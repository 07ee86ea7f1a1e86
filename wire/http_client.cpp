#include "wire/http_client.hpp"

// The one place where Beast itself is compiled (BOOST_BEAST_SEPARATE_COMPILATION).
#include <boost/beast/src.hpp>

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include "wire/as_result.hpp"

namespace hedgerow::wire {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

namespace {

constexpr std::uint64_t largest_response = 256 << 20;

Error translate(beast::error_code error) {
  if (error == beast::error::timeout) return {Errc::expired, "no answer in time"};
  if (error.category() == make_error_code(http::error::bad_version).category() && error != http::error::end_of_stream) {
    return {Errc::protocol, error.message()};
  }
  return {Errc::unavailable, error.message()};
}

}  // namespace

struct HttpClient::Implementation {
  Implementation(asio::any_io_executor executor, tcp::endpoint e) : stream(std::move(executor)), endpoint(std::move(e)) {}

  beast::tcp_stream stream;
  tcp::endpoint endpoint;
  beast::flat_buffer buffer;
  bool connected = false;

  asio::awaitable<beast::error_code> connect() {
    const auto [error] = co_await stream.async_connect(endpoint, as_result);
    if (!error) {
      beast::error_code ignored;
      stream.socket().set_option(tcp::no_delay(true), ignored);
      buffer.clear();
      connected = true;
    }
    co_return error;
  }

  void close() {
    connected = false;
    stream.close();
  }
};

HttpClient::HttpClient(asio::any_io_executor executor, tcp::endpoint endpoint)
    : implementation_(std::make_unique<Implementation>(std::move(executor), std::move(endpoint))) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

void HttpClient::close() { implementation_->close(); }

asio::awaitable<result<HttpResponse>> HttpClient::request(std::string method, std::string target, std::string body,
                                                          Duration time, HttpHeaders headers) {
  Implementation& self = *implementation_;
  http::request<http::string_body> message;
  message.version(11);
  message.method_string(method);
  message.target(target);
  const std::string address = self.endpoint.address().is_v6() ? "[" + self.endpoint.address().to_string() + "]"
                                                              : self.endpoint.address().to_string();
  message.set(http::field::host, address + ":" + std::to_string(self.endpoint.port()));
  message.set(http::field::user_agent, "hedgerow");
  if (!body.empty()) message.set(http::field::content_type, "application/json");
  for (const auto& [name, value] : headers) message.set(name, value);
  message.body() = std::move(body);
  message.prepare_payload();

  self.stream.expires_after(time);
  for (bool fresh = false;;) {
    if (!self.connected) {
      fresh = true;
      if (const auto error = co_await self.connect()) co_return translate(error);
    }
    const auto [write_error, written] = co_await http::async_write(self.stream, message, as_result);
    http::response_parser<http::string_body> parser;
    parser.body_limit(largest_response);
    beast::error_code error = write_error;
    if (!error) {
      const auto [read_error, size] = co_await http::async_read(self.stream, self.buffer, parser, as_result);
      error = read_error;
    }
    if (error) {
      self.close();
      const bool was_closed_while_idle = !fresh && !parser.got_some() && error != beast::error::timeout;
      if (was_closed_while_idle) continue;
      co_return translate(error);
    }
    auto answer = parser.release();
    HttpResponse response;
    response.status = static_cast<int>(answer.result_int());
    response.content_type = std::string(answer[http::field::content_type]);
    for (const auto& field : answer) response.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    response.body = std::move(answer.body());
    if (answer.keep_alive()) {
      self.stream.expires_never();
    } else {
      self.close();
    }
    co_return response;
  }
}

asio::awaitable<result<tcp::endpoint>> resolve_address(std::string address) {
  std::string_view rest = address;
  if (rest.starts_with("http://")) rest.remove_prefix(7);
  if (rest.ends_with("/")) rest.remove_suffix(1);
  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == rest.size()) {
    co_return Error{Errc::invalid_argument, "'" + address + "' is not an address; write host:port"};
  }
  std::string host(rest.substr(0, colon));
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto [error, found] = co_await resolver.async_resolve(host, std::string(rest.substr(colon + 1)), as_result);
  if (error || found.empty()) co_return Error{Errc::unavailable, "'" + address + "': " + error.message()};
  co_return found.begin()->endpoint();
}

}  // namespace hedgerow::wire
