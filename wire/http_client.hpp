// An HTTP client over one kept-alive connection: for the root's questions to leaves, and for the laboratory's load.
//
// Owned by one coroutine at a time, on its executor's thread. Sends one request after another.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "wire/http.hpp"

namespace hedgerow::wire {

class HttpClient {
 public:
  HttpClient(boost::asio::any_io_executor executor, boost::asio::ip::tcp::endpoint endpoint);
  HttpClient(HttpClient&&) noexcept;
  HttpClient& operator=(HttpClient&&) noexcept;
  ~HttpClient();

  // Connects where there is no connection (a kept-alive one that the server has closed since is replaced, once), sends,
  // and reads the response, all within the time.
  // Errors: unavailable (nobody there, or the connection broke), expired (too slow), protocol (not HTTP).
  boost::asio::awaitable<result<HttpResponse>> request(std::string method, std::string target, std::string body,
                                                       Duration time, HttpHeaders headers = {});
  void close();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// "http://127.0.0.1:7080" or "127.0.0.1:7080" to an endpoint, resolving names. Errors: invalid_argument, unavailable.
boost::asio::awaitable<result<boost::asio::ip::tcp::endpoint>> resolve_address(std::string address);

}  // namespace hedgerow::wire
