#include "wire/http_router.hpp"

#include <optional>
#include <set>

#include "wire/problem.hpp"

namespace hedgerow::wire {

namespace {

// The next segment of a path that starts with '/', and what is left of it.
std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const auto end = std::min(path.find('/'), path.size());
  const auto segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

std::optional<PathParts> match(std::string_view pattern, std::string_view path) {
  PathParts parts;
  while (!pattern.empty() && !path.empty() && path.front() == '/') {
    if (pattern.ends_with("...}") && pattern.starts_with("/{") && pattern.find('/', 1) == std::string_view::npos) {
      if (path.size() == 1) return std::nullopt;
      parts[std::string(pattern.substr(2, pattern.size() - 6))] = path.substr(1);
      return parts;
    }
    const auto wanted = take_segment(pattern);
    const auto segment = take_segment(path);
    if (wanted.size() > 2 && wanted.front() == '{') {
      if (segment.empty()) return std::nullopt;
      parts[std::string(wanted.substr(1, wanted.size() - 2))] = segment;
    } else if (wanted != segment) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return parts;
}

}  // namespace

boost::asio::awaitable<HttpResponse> HttpRouter::handle(HttpRequest& request) const {
  std::set<std::string> other_methods;
  for (const Route& route : routes_) {
    const auto parts = match(route.pattern, request.path);
    if (!parts) continue;
    if (route.method == request.method) co_return co_await route.handle(request, *parts);
    other_methods.insert(route.method);
  }
  if (other_methods.empty()) co_return problem(404, "unknown-path", "There is nothing at '" + request.path + "'.");

  std::string allowed;
  for (const auto& method : other_methods) allowed += (allowed.empty() ? "" : ", ") + method;
  auto response = problem(405, "method-not-allowed",
                          "'" + request.path + "' does not take " + request.method + "; it takes " + allowed + ".");
  response.headers.emplace_back("Allow", allowed);
  co_return response;
}

}  // namespace hedgerow::wire
