#include "root_answerer.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <nlohmann/json.hpp>

namespace hedgerow::test {

namespace {

namespace asio = boost::asio;

asio::ip::tcp::endpoint resolve(asio::io_context& io, const std::string& url) {
  result<asio::ip::tcp::endpoint> endpoint = Error{};
  asio::co_spawn(io, wire::resolve_address(url), [&](std::exception_ptr, auto found) { endpoint = std::move(found); });
  io.run();
  io.restart();
  return endpoint.value();
}

}  // namespace

RootAnswerer::RootAnswerer(const std::string& url, const Reference& reference)
    : client_(io_.get_executor(), resolve(io_, url)) {
  const auto last = reference.database().get_lastdocid();
  for (Xapian::docid number = 1; number <= last; ++number) numbers_.emplace(reference.id_of(number), number);
}

result<std::vector<ScoredDocument>> RootAnswerer::answer(const std::string& query, Slice slice) {
  const nlohmann::json body{{"q", query}, {"k", slice.k}, {"offset", slice.offset}, {"deadline", "60s"}};
  result<wire::HttpResponse> response = Error{};
  asio::co_spawn(io_, client_.request("POST", "/v1/search", body.dump(), std::chrono::seconds(90)),
                 [&](std::exception_ptr, auto answered) { response = std::move(answered); });
  io_.run();
  io_.restart();
  if (response.has_error()) return response.error();
  if (response->status != 200) return Error{Errc::internal, std::to_string(response->status) + ": " + response->body};

  const auto answer = nlohmann::json::parse(response->body);
  if (answer["finished"] != "complete") return Error{Errc::internal, "the answer is not complete: " + response->body};
  std::vector<ScoredDocument> hits;
  for (const auto& hit : answer["hits"]) {
    const auto number = numbers_.find(hit["id"].get<std::string>());
    if (number == numbers_.end()) return Error{Errc::internal, "an unknown document: " + hit.dump()};
    hits.push_back({number->second, hit["score"].get<double>()});
  }
  return hits;
}

}  // namespace hedgerow::test
