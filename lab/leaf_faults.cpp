#include "lab/leaf_faults.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "lab/cluster_faults.hpp"
#include "wire/as_result.hpp"
#include "wire/http_client.hpp"

namespace hedgerow::lab {

namespace asio = boost::asio;
using nlohmann::json;

namespace {

// A leaf answers at once, unless it is stopped or starved.
constexpr Duration leaf_answer_time = std::chrono::seconds(10);

struct Exchange {
  LeafAddress leaf;
  std::string body;
  json listing;
  std::string failure;  // empty: none
  bool unreachable = false;
};

asio::awaitable<void> ask_leaf(Exchange& exchange, std::string method) {
  const auto endpoint = co_await wire::resolve_address(exchange.leaf.address);
  if (endpoint.has_error()) {
    exchange.unreachable = true;
    exchange.failure = to_string(endpoint.error());
    co_return;
  }
  wire::HttpClient client(co_await asio::this_coro::executor, *endpoint);
  const auto answer = co_await client.request(std::move(method), "/v1/faults", exchange.body, leaf_answer_time);
  if (answer.has_error()) {
    exchange.unreachable = true;
    exchange.failure = to_string(answer.error());
    co_return;
  }
  exchange.listing = json::parse(answer->body, nullptr, false);
  if (answer->status == 200 && exchange.listing.is_object()) co_return;
  const auto detail = exchange.listing.is_object() ? exchange.listing.find("detail") : exchange.listing.end();
  const bool says_why = exchange.listing.is_object() && detail != exchange.listing.end() && detail->is_string();
  exchange.failure = says_why ? detail->get<std::string>() : "status " + std::to_string(answer->status);
}

asio::awaitable<result<LeafListings>> ask_leaves(std::vector<Exchange> exchanges, std::string method) {
  const auto executor = co_await asio::this_coro::executor;
  std::size_t left = exchanges.size();
  asio::steady_timer all_asked(executor, asio::steady_timer::time_point::max());
  for (auto& exchange : exchanges) {
    asio::co_spawn(executor, ask_leaf(exchange, method), [&](std::exception_ptr problem) {
      if (problem) exchange.failure = "could not be asked";
      if (--left == 0) all_asked.cancel();
    });
  }
  while (left > 0) co_await all_asked.async_wait(wire::as_result);

  LeafListings listings;
  std::string failures;
  bool refused = false;
  for (const auto& exchange : exchanges) {
    if (exchange.failure.empty()) {
      listings.leaves[exchange.leaf.name] = exchange.listing;
      continue;
    }
    refused = refused || !exchange.unreachable;
    if (!failures.empty()) failures += " ";
    failures += "'" + exchange.leaf.name + "': " + exchange.failure;
  }
  if (!failures.empty()) co_return Error{refused ? Errc::refused : Errc::unavailable, failures};
  co_return listings;
}

std::vector<Exchange> exchanges_of(std::vector<LeafAddress> leaves) {
  std::vector<Exchange> exchanges;
  for (auto& leaf : leaves) exchanges.push_back({std::move(leaf), "", {}, "", false});
  return exchanges;
}

}  // namespace

std::vector<LeafAddress> leaves_of(const Cluster& cluster) {
  std::vector<LeafAddress> leaves;
  for (auto& process : cluster.processes()) {
    if (process.name != "root") leaves.push_back({process.name, process.address});
  }
  return leaves;
}

asio::awaitable<result<LeafListings>> set_leaf_faults(std::vector<LeafAddress> leaves, json faults, Distribution::ReadFile read) {
  std::vector<std::string> names;
  for (const auto& leaf : leaves) names.push_back(leaf.name);
  auto by_leaf = faults_by_leaf(faults, names, read);
  if (by_leaf.has_error()) co_return by_leaf.error();
  auto exchanges = exchanges_of(std::move(leaves));
  for (std::size_t i = 0; i < exchanges.size(); ++i) exchanges[i].body = (*by_leaf)[i].dump();
  co_return co_await ask_leaves(std::move(exchanges), "PUT");
}

asio::awaitable<result<LeafListings>> list_leaf_faults(std::vector<LeafAddress> leaves) {
  co_return co_await ask_leaves(exchanges_of(std::move(leaves)), "GET");
}

asio::awaitable<result<LeafListings>> clear_leaf_faults(std::vector<LeafAddress> leaves) {
  co_return co_await ask_leaves(exchanges_of(std::move(leaves)), "DELETE");
}

}  // namespace hedgerow::lab
