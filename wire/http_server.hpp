// The HTTP server of leaf and root: connections, limits, Host and Origin checks, keep-alive, links, draining.
//
// Runs on one thread, its executor's. What is behind a path belongs to the handler. Bounds: connections (beyond: an
// immediate 503), header bytes (431), body bytes (413), and the time in which a request must arrive (the connection is
// closed). A request whose Host, or whose Origin where it has one, is foreign is refused with 403 before any handler
// sees it: any web page can make a browser talk to a server on loopback.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "wire/http.hpp"
#include "wire/link.hpp"

namespace hedgerow::wire {

struct HttpServerSettings {
  std::size_t most_connections = 4096;
  std::size_t header_bytes = 32 << 10;
  std::size_t body_bytes = 1 << 20;
  // How long a connection may be idle between requests, and a request may take to arrive once it has begun.
  Duration idle_time = std::chrono::seconds(60);
  // Host names (without port) that requests may be addressed to; an Origin must match the Host exactly.
  std::vector<std::string> hosts{"localhost", "127.0.0.1", "[::1]"};
  LinkSettings link;
};

class HttpServer {
 public:
  using Handler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest&)>;
  // Owns the link for as long as it runs. Without one, an upgrade is answered as any other request.
  using LinkHandler = std::function<boost::asio::awaitable<void>(std::shared_ptr<Link>)>;

  HttpServer(boost::asio::any_io_executor executor, HttpServerSettings settings, Handler handler,
             LinkHandler link_handler = {});
  ~HttpServer();

  // Binds and starts to accept; returns the endpoint (with the port that the system chose, where 0 was asked for).
  // Errors: io.
  result<boost::asio::ip::tcp::endpoint> listen(boost::asio::ip::tcp::endpoint endpoint);

  // Stops accepting, closes idle connections, lets requests in progress be answered, and returns when all connections
  // have ended, or have been closed because the time was over.
  boost::asio::awaitable<void> drain(Duration time);

  std::size_t open_connections() const;

 private:
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace hedgerow::wire
