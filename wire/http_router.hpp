// Routes as a table: method and path pattern to handler. Unknown paths are 404, known ones with another method 405.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "wire/http.hpp"

namespace hedgerow::wire {

// The parts of a path that stand where the pattern has {name}; at its end, {name...} stands for all that is left.
using PathParts = std::map<std::string, std::string>;
using RouteHandler = std::function<boost::asio::awaitable<HttpResponse>(HttpRequest&, const PathParts&)>;

struct Route {
  std::string method;
  std::string pattern;  // "/v1/leaves/{leaf}/faults"
  RouteHandler handle;
};

class HttpRouter {
 public:
  explicit HttpRouter(std::vector<Route> routes) : routes_(std::move(routes)) {}
  boost::asio::awaitable<HttpResponse> handle(HttpRequest& request) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace hedgerow::wire
