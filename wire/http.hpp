// HTTP requests and responses as plain values: what handlers and clients see, whatever library carries them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace hedgerow::wire {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Tells a handler that its client closed the connection. Used on the server's thread.
class ClientWatch {
 public:
  virtual ~ClientWatch() = default;
  // Calls once, when the client goes away before the response is sent; watching starts here, and ends with the request.
  // A client that shuts down its sending side counts as gone: from here the two look the same.
  virtual void on_gone(std::function<void()> callback) = 0;
};

struct HttpRequest {
  std::string method;
  std::string target;  // as sent: "/v1/search?q=a%20b"
  std::string path;    // decoded: "/v1/search"
  // Decoded, in the order sent; a name may come more than once.
  std::vector<std::pair<std::string, std::string>> parameters;
  HttpHeaders headers;
  std::string body;
  Instant received;       // when the whole request had been read
  ClientWatch* client = nullptr;  // lives as long as the request is handled

  // The first header of that name, in any case; nullopt where there is none.
  std::optional<std::string_view> header(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  HttpHeaders headers;

  std::optional<std::string_view> header(std::string_view name) const;
};

}  // namespace hedgerow::wire
