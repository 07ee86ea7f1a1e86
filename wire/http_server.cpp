#include "wire/http_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <list>
#include <optional>

#include "base/log.hpp"
#include "base/steady_clock.hpp"
#include "wire/as_result.hpp"
#include "wire/beast_link.hpp"
#include "wire/problem.hpp"

namespace hedgerow::wire {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;

// "localhost" of "localhost:7080", "[::1]" of "[::1]:7080"; empty where what follows the name is no port.
std::string_view host_name(std::string_view host) {
  const bool bracketed = !host.empty() && host.front() == '[';
  const auto end = bracketed ? std::min(host.find(']'), host.size() - 1) + 1 : std::min(host.find(':'), host.size());
  const auto rest = host.substr(end);
  const bool port = rest.empty() || (rest.front() == ':' && rest.find_first_not_of("0123456789", 1) == std::string_view::npos);
  return port ? host.substr(0, end) : std::string_view{};
}

std::optional<HttpResponse> refusal_of_foreigners(const HttpRequest& request, const std::vector<std::string>& hosts) {
  const auto is_host = [](const auto& header) { return beast::iequals(header.first, "Host"); };
  if (std::count_if(request.headers.begin(), request.headers.end(), is_host) > 1) {
    return problem(400, "bad-request", "The request has more than one Host.");
  }
  const auto host = request.header("Host");
  const auto known = [&](const std::string& name) { return beast::iequals(name, host_name(*host)); };
  if (!host || std::none_of(hosts.begin(), hosts.end(), known)) {
    return problem(403, "foreign-host",
                   "This server does not answer to the host '" + std::string(host.value_or("")) + "'.");
  }
  const auto origin = request.header("Origin");
  if (origin && !beast::iequals(*origin, "http://" + std::string(*host))) {
    return problem(403, "foreign-origin", "This server does not answer to pages of '" + std::string(*origin) + "'.");
  }
  return std::nullopt;
}

// Splits a target into decoded path and parameters; false where it is not a target.
bool parse_target(HttpRequest& request) {
  const auto url = boost::urls::parse_origin_form(request.target);
  if (url.has_error()) return false;
  request.path = url->path();
  for (const auto& parameter : url->params(boost::urls::encoding_opts{true})) {
    request.parameters.emplace_back(parameter.key, parameter.value);
  }
  return true;
}

// Watches for the client's end by waiting until its socket is readable while nothing more should come. Where bytes
// have come instead (a pipelined request) the watch is over.
class SocketWatch final : public ClientWatch, public std::enable_shared_from_this<SocketWatch> {
 public:
  explicit SocketWatch(tcp::socket& socket) : socket_(&socket) {}

  void on_gone(std::function<void()> callback) override {
    callback_ = std::move(callback);
    if (waiting_) return;
    waiting_ = true;
    socket_->async_wait(tcp::socket::wait_read, [self = shared_from_this()](beast::error_code error) {
      if (!self->socket_ || error == asio::error::operation_aborted) return;
      char byte = 0;
      beast::error_code ended;
      const auto peeked = self->socket_->receive(asio::buffer(&byte, 1), tcp::socket::message_peek, ended);
      if (peeked == 0 || ended) {
        if (auto gone = std::exchange(self->callback_, {})) gone();
      }
    });
  }
  // The request has been handled. True when a wait must be cancelled on the socket.
  bool stop() {
    socket_ = nullptr;
    callback_ = {};
    return waiting_;
  }

 private:
  tcp::socket* socket_;
  std::function<void()> callback_;
  bool waiting_ = false;
};

}  // namespace

struct HttpServer::Implementation : std::enable_shared_from_this<Implementation> {
  struct Connection {
    explicit Connection(tcp::socket socket) : stream(std::move(socket)) {}
    beast::tcp_stream stream;
    std::weak_ptr<Link> link;
    bool busy = false;
    bool upgraded = false;  // the stream has moved into a link
  };

  Implementation(asio::any_io_executor e, HttpServerSettings s, Handler h, LinkHandler l)
      : executor(std::move(e)), settings(std::move(s)), handler(std::move(h)), link_handler(std::move(l)),
        acceptor(executor), all_ended(executor) {}

  asio::awaitable<void> accept() {
    const auto self = shared_from_this();
    while (acceptor.is_open()) {
      auto [error, socket] = co_await acceptor.async_accept(as_result);
      if (error) {
        if (!acceptor.is_open()) co_return;
        if (error != asio::error::connection_aborted) {
          log_event(LogLevel::warning, "accept_failed", {{"error", error.message()}});
          // Out of descriptors: without a pause this would spin.
          asio::steady_timer pause(executor, std::chrono::milliseconds(50));
          co_await pause.async_wait(as_result);
        }
        continue;
      }
      connections.emplace_back(std::move(socket));
      const auto place = std::prev(connections.end());
      asio::co_spawn(executor, serve(place), [self, place](std::exception_ptr problem) {
        if (problem) log_exception(problem);
        self->connections.erase(place);
        if (self->connections.empty()) self->all_ended.cancel();
      });
    }
  }

  static void log_exception(const std::exception_ptr& problem) {
    try {
      std::rethrow_exception(problem);
    } catch (const std::exception& e) {
      log_event(LogLevel::error, "connection_failed", {{"error", e.what()}});
    }
  }

  asio::awaitable<void> serve(std::list<Connection>::iterator place) {
    Connection& connection = *place;
    beast::tcp_stream& stream = connection.stream;
    beast::error_code ignored;
    stream.socket().set_option(tcp::no_delay(true), ignored);
    beast::flat_buffer buffer;

    if (connections.size() > settings.most_connections) {
      stream.expires_after(std::chrono::seconds(1));
      auto busy = problem(503, "too-many-connections",
                          "More than " + std::to_string(settings.most_connections) + " connections are open.");
      busy.headers.emplace_back("Retry-After", "1");
      co_await write(stream, busy, {});
      stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
      co_return;
    }

    while (!draining) {
      http::request_parser<http::string_body> parser;
      parser.header_limit(static_cast<std::uint32_t>(settings.header_bytes));
      parser.body_limit(settings.body_bytes);
      stream.expires_after(settings.idle_time);
      const auto [error, size] = co_await http::async_read(stream, buffer, parser, as_result);
      if (error) {
        if (auto answer = answer_to_unreadable(error)) {
          stream.expires_after(std::chrono::seconds(1));
          co_await write(stream, *answer, {});
          stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
          co_await swallow(stream);
        }
        co_return;
      }
      stream.expires_never();
      connection.busy = true;
      auto message = parser.release();
      Framing framing{message.version(), message.keep_alive(), message.method() == http::verb::head};

      // A body in a coding that we do not read would be taken for the next request.
      const bool coded = message.count(http::field::transfer_encoding) > 0;
      if (coded && (message.has_content_length() || !message.chunked())) {
        framing.keep_alive = false;
        auto unreadable = problem(501, "transfer-encoding", "This server reads bodies with a length, or in chunks.");
        stream.expires_after(std::chrono::seconds(1));
        co_await write(stream, unreadable, framing);
        co_return;
      }
      HttpRequest request = to_request(message);
      auto refusal = refusal_of_foreigners(request, settings.hosts);
      if (!refusal && link_handler && request.target == link_path && beast::websocket::is_upgrade(message)) {
        connection.upgraded = true;
        auto link = co_await accept_link(std::move(stream), std::move(message), settings.link);
        if (link.has_error()) co_return;
        connection.link = *link;
        if (draining) (*link)->close({Errc::unavailable, "stopping"});
        co_await link_handler(std::move(*link));
        co_return;
      }
      // Not as one conditional expression: g++ 12 destroys what co_await gives there before it is moved from.
      HttpResponse response;
      if (refusal) {
        response = std::move(*refusal);
      } else {
        response = co_await respond(request, stream);
      }
      framing.keep_alive = framing.keep_alive && !draining;
      stream.expires_after(settings.idle_time);
      const bool written = co_await write(stream, response, framing);
      if (!written) co_return;
      connection.busy = false;  // not before: draining cuts what is not busy
      if (!framing.keep_alive || draining) {
        stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
        co_return;
      }
    }
  }

  // What the handler makes of the request; nothing that it throws goes further than a 500.
  asio::awaitable<HttpResponse> respond(HttpRequest& request, beast::tcp_stream& stream) {
    if (!parse_target(request)) co_return problem(400, "bad-target", "The request's target is not a valid path and query.");
    const auto watch = std::make_shared<SocketWatch>(stream.socket());
    request.client = watch.get();
    HttpResponse response;
    try {
      response = co_await handler(request);
    } catch (const std::exception& e) {
      log_event(LogLevel::error, "handler_failed", {{"path", request.path}, {"error", e.what()}});
      response = problem(500, "internal", "The server failed to answer; its log says why.");
    }
    if (watch->stop()) {
      beast::error_code ignored;
      stream.socket().cancel(ignored);
    }
    co_return response;
  }

  static std::optional<HttpResponse> answer_to_unreadable(beast::error_code error) {
    if (error == http::error::body_limit) return problem(413, "body-too-large", "The request's body is too large.");
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return problem(431, "header-too-large", "The request's target and headers are too large.");
    }
    if (error == http::error::end_of_stream || error == beast::error::timeout) return std::nullopt;
    if (error.category() == make_error_code(http::error::bad_version).category()) {
      return problem(400, "bad-request", "This is not a valid HTTP request: " + error.message() + ".");
    }
    return std::nullopt;
  }

  // Closing with unread bytes would reset the connection and lose the answer; a client that goes on sending is read for
  // a moment, and no longer.
  asio::awaitable<void> swallow(beast::tcp_stream& stream) {
    std::vector<char> scratch(64 << 10);
    stream.expires_after(std::chrono::seconds(1));
    for (int i = 0; i < 256; ++i) {
      const auto [error, size] = co_await stream.async_read_some(asio::buffer(scratch), as_result);
      if (error) co_return;
    }
  }

  HttpRequest to_request(http::request<http::string_body>& message) const {
    HttpRequest request;
    request.method = std::string(message.method_string());
    request.target = std::string(message.target());
    for (const auto& field : message) request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
    request.body = std::move(message.body());
    request.received = clock_now();
    return request;
  }

  // How a response is put on the wire, whatever it says.
  struct Framing {
    unsigned version = 11;
    bool keep_alive = false;
    // To HEAD: the head alone, with the length that the body would have; a client would take a body for the next answer.
    bool head_only = false;
  };

  asio::awaitable<bool> write(beast::tcp_stream& stream, HttpResponse& response, Framing framing) {
    http::response<http::string_body> message;
    message.version(framing.version);
    message.result(static_cast<unsigned>(response.status));
    message.reason(std::string(reason_phrase(response.status)));
    message.set(http::field::server, "hedgerow");
    if (!response.content_type.empty()) message.set(http::field::content_type, response.content_type);
    message.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) message.insert(name, value);
    message.keep_alive(framing.keep_alive);
    message.body() = std::move(response.body);
    message.prepare_payload();
    if (framing.head_only) {
      http::response_serializer<http::string_body> serializer(message);
      const auto [error, size] = co_await http::async_write_header(stream, serializer, as_result);
      co_return !error;
    }
    const auto [error, size] = co_await http::async_write(stream, message, as_result);
    co_return !error;
  }

  asio::any_io_executor executor;
  HttpServerSettings settings;
  Handler handler;
  LinkHandler link_handler;
  tcp::acceptor acceptor;
  std::list<Connection> connections;
  asio::steady_timer all_ended;
  bool draining = false;
};

HttpServer::HttpServer(asio::any_io_executor executor, HttpServerSettings settings, Handler handler,
                       LinkHandler link_handler)
    : implementation_(std::make_shared<Implementation>(std::move(executor), std::move(settings), std::move(handler),
                                                       std::move(link_handler))) {}

HttpServer::~HttpServer() = default;

result<tcp::endpoint> HttpServer::listen(tcp::endpoint endpoint) {
  auto& acceptor = implementation_->acceptor;
  beast::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    return Error{Errc::io, "listening on " + endpoint.address().to_string() + ":" + std::to_string(endpoint.port()) +
                               ": " + error.message()};
  }
  const auto bound = acceptor.local_endpoint();
  asio::co_spawn(implementation_->executor, implementation_->accept(), asio::detached);
  return bound;
}

asio::awaitable<void> HttpServer::drain(Duration time) {
  const auto self = implementation_;
  self->draining = true;
  beast::error_code ignored;
  self->acceptor.close(ignored);
  for (auto& connection : self->connections) {
    if (const auto link = connection.link.lock()) link->close({Errc::unavailable, "stopping"});
    if (!connection.busy && !connection.upgraded) connection.stream.cancel();
  }
  if (self->connections.empty()) co_return;
  self->all_ended.expires_after(time);
  co_await self->all_ended.async_wait(as_result);
  if (self->connections.empty()) co_return;
  for (auto& connection : self->connections) {
    if (!connection.upgraded) connection.stream.cancel();
  }
  self->all_ended.expires_after(std::chrono::seconds(1));
  co_await self->all_ended.async_wait(as_result);
}

std::size_t HttpServer::open_connections() const { return implementation_->connections.size(); }

}  // namespace hedgerow::wire
