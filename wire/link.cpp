#include "wire/link.hpp"

#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>
#include <optional>

#include "wire/as_result.hpp"
#include "wire/beast_link.hpp"
#include "wire/codec.hpp"

namespace hedgerow::wire {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using tcp = asio::ip::tcp;

class WebSocketLink final : public Link, public std::enable_shared_from_this<WebSocketLink> {
 public:
  WebSocketLink(beast::tcp_stream stream, LinkSettings settings) : settings_(settings), socket_(std::move(stream)) {
    beast::error_code ignored;
    auto& tcp_socket = beast::get_lowest_layer(socket_).socket();
    tcp_socket.set_option(tcp::no_delay(true), ignored);
    if (const auto endpoint = tcp_socket.remote_endpoint(ignored); !ignored) {
      peer_ = endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
    }
    // From here on Beast's own timer watches the connection.
    beast::get_lowest_layer(socket_).expires_never();
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = settings.connect_time;
    timeout.idle_timeout = settings.idle_time;
    timeout.keep_alive_pings = true;
    socket_.set_option(timeout);
    socket_.read_message_max(settings.frame_bytes);
    socket_.auto_fragment(false);
    socket_.binary(true);
  }

  websocket::stream<beast::tcp_stream>& socket() { return socket_; }

  std::size_t send(const Message& message) override {
    if (end_) return 0;
    const std::size_t before = waiting_.size();
    waiting_.append(message);
    if (waiting_.size() > settings_.send_queue_bytes) {
      close({Errc::too_large, "more than " + std::to_string(settings_.send_queue_bytes) + " bytes wait to be sent"});
      return 0;
    }
    const std::size_t bytes = waiting_.size() - before;
    schedule_write();
    return bytes;
  }

  void send_garbage(std::string_view bytes) override {
    if (end_) return;
    waiting_.append_garbage(bytes);
    schedule_write();
  }

  asio::awaitable<Error> run(Handler handler) override {
    const auto self = shared_from_this();
    beast::flat_buffer buffer;
    while (!end_) {
      const auto [error, size] = co_await socket_.async_read(buffer, as_result);
      if (error) {
        finish(error == websocket::error::message_too_big ? Error{Errc::protocol, "a frame beyond the bound"} : broken(error));
        break;
      }
      const std::string_view frame(static_cast<const char*>(buffer.cdata().data()), size);
      auto messages = decode_frame(frame);
      buffer.consume(size);
      if (messages.has_error()) {
        finish(messages.error());
        break;
      }
      for (Message& message : *messages) {
        if (end_) break;
        if (auto handled = handler(std::move(message)); handled.has_error()) finish(handled.error());
      }
    }
    shut();
    co_return *end_;
  }

  void close(Error reason) override {
    finish(std::move(reason));
    shut();
  }

  std::string peer() const override { return peer_; }
  std::size_t waiting_bytes() const override { return waiting_.size(); }

 private:
  // Not at once: what else this turn of the event loop has to say travels in the same frame.
  void schedule_write() {
    if (writing_) return;
    writing_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
      self->writing_ = false;
      if (!self->end_ && !self->waiting_.empty()) self->write();
    });
  }

  void write() {
    writing_ = true;
    on_the_way_ = waiting_.take();
    socket_.async_write(asio::buffer(on_the_way_), [self = shared_from_this()](beast::error_code error, std::size_t) {
      self->writing_ = false;
      if (error) {
        self->finish(self->broken(error));
        self->shut();
      } else if (!self->waiting_.empty() && !self->end_) {
        self->write();
      }
    });
  }

  // A process that dies closes its connections; one that is stopped, or cut off, is silent.
  Error broken(const beast::error_code& error) const {
    if (error == beast::error::timeout) return {Errc::expired, "silent for " + format_duration(settings_.idle_time)};
    const bool cut_off = error == asio::error::timed_out || error == asio::error::host_unreachable ||
                         error == asio::error::network_unreachable || error == asio::error::network_down;
    return {cut_off ? Errc::expired : Errc::unavailable, error.message()};
  }

  void finish(Error reason) {
    if (!end_) end_ = std::move(reason);
  }

  void shut() {
    beast::error_code ignored;
    auto& tcp_socket = beast::get_lowest_layer(socket_).socket();
    tcp_socket.shutdown(tcp::socket::shutdown_both, ignored);
    beast::get_lowest_layer(socket_).close();
  }

  LinkSettings settings_;
  websocket::stream<beast::tcp_stream> socket_;
  std::string peer_;
  FrameBuilder waiting_;
  std::string on_the_way_;
  bool writing_ = false;
  std::optional<Error> end_;
};

void name_ourselves(websocket::request_type& request) {
  request.set(beast::http::field::user_agent, "hedgerow");
}

}  // namespace

asio::awaitable<result<std::shared_ptr<Link>>> connect_link(tcp::endpoint endpoint, LinkSettings settings) {
  beast::tcp_stream stream(co_await asio::this_coro::executor);
  stream.expires_after(settings.connect_time);
  if (const auto [error] = co_await stream.async_connect(endpoint, as_result); error) {
    co_return Error{Errc::unavailable, error == beast::error::timeout ? "connecting took too long" : error.message()};
  }
  auto link = std::make_shared<WebSocketLink>(std::move(stream), settings);
  link->socket().set_option(websocket::stream_base::decorator(name_ourselves));
  const std::string host = endpoint.address().to_string() + ":" + std::to_string(endpoint.port());
  const auto [error] = co_await link->socket().async_handshake(host, link_path, as_result);
  if (error) {
    const bool no_websocket =
        error.category() == make_error_code(websocket::error::closed).category() ||
        (error.category() == make_error_code(beast::http::error::bad_version).category() &&
         error != beast::http::error::end_of_stream && error != beast::http::error::partial_message);
    co_return Error{no_websocket ? Errc::protocol : Errc::unavailable, "handshake: " + error.message()};
  }
  co_return link;
}

asio::awaitable<result<std::shared_ptr<Link>>> accept_link(
    beast::tcp_stream stream, beast::http::request<beast::http::string_body> upgrade, LinkSettings settings) {
  auto link = std::make_shared<WebSocketLink>(std::move(stream), settings);
  const auto [error] = co_await link->socket().async_accept(upgrade, as_result);
  if (error) co_return Error{Errc::protocol, "handshake: " + error.message()};
  co_return link;
}

}  // namespace hedgerow::wire
