// A whole leaf on loopback over a tiny index, and a root's side of a link to it, moved by hand: what the session tests
// share.
#pragma once

#include <doctest/doctest.h>

#include <boost/asio.hpp>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "corpus/document.hpp"
#include "index/manifest.hpp"
#include "index/query.hpp"
#include "leaf/server.hpp"
#include "wire/http.hpp"
#include "wire/link.hpp"

namespace hedgerow::leaf {

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Names of metrics, and faults, that many tests look at and set.
inline const std::string running_attempts = "hedgerow_leaf_running_attempts";
inline const std::string queued_attempts = "hedgerow_leaf_queued_attempts";
inline const std::string pausing = R"([{"kind": "pause"}])";
inline const std::string holding_an_hour = R"([{"kind": "hold", "delay": "1h"}])";

// An index of 4 partitions in a folder of its own, built once for the process and removed at its end.
class TinyIndex {
 public:
  static const TinyIndex& get();
  const std::filesystem::path& directory() const { return directory_; }
  const Manifest& manifest() const { return manifest_; }
  const std::vector<Document>& documents() const { return documents_; }
  // Where a document is.
  wire::DocumentAddress address(const std::string& id) const;
  QueryPlan plan(const std::string& query) const;

 private:
  TinyIndex();
  ~TinyIndex();
  std::filesystem::path directory_;
  std::vector<Document> documents_;
  Manifest manifest_;
};

class RunningLeaf {
 public:
  // Settings that are given replace the defaults; index, address and port are the fixture's.
  explicit RunningLeaf(Settings settings = {});
  // Beside another leaf, on its io_context.
  RunningLeaf(Settings settings, RunningLeaf& beside);
  ~RunningLeaf();

  // Runs the test's coroutine to its end; what it throws, it throws. Fails when it takes unreasonably long.
  template <class Coroutine>
  void run(Coroutine coroutine) {
    bool ended = false;
    asio::co_spawn(io, coroutine(), [&](std::exception_ptr problem) {
      ended = true;
      if (problem) std::rethrow_exception(problem);
    });
    io.restart();
    const auto give_up = std::chrono::steady_clock::now() + 30s;
    while (!ended && std::chrono::steady_clock::now() < give_up) io.run_one_for(1s);
    REQUIRE(ended);
  }

  asio::awaitable<wire::HttpResponse> http(std::string method, std::string path, std::string body = "");
  // A metric's value by its full name with labels: hedgerow_leaf_work_total{outcome="expired",work="search"}.
  asio::awaitable<double> metric(std::string name);
  // Asks until the metric has the value.
  asio::awaitable<void> until(std::string name, double value);
  asio::awaitable<void> set_faults(std::string json);

  std::string address() const { return "127.0.0.1:" + std::to_string(endpoint.port()); }

 private:
  RunningLeaf(Settings settings, std::unique_ptr<asio::io_context> own, asio::io_context* shared);
  std::unique_ptr<asio::io_context> own_io_;

 public:
  asio::io_context& io;
  std::unique_ptr<Server> server;
  asio::ip::tcp::endpoint endpoint;
  bool drained = false;
};

// The root's side of one link.
class RootSide {
 public:
  // With greet the hellos have been exchanged.
  static asio::awaitable<std::shared_ptr<RootSide>> connect(RunningLeaf& leaf, bool greet = true);

  void send(const wire::Message& message) { link_->send(message); }
  // The next message from the leaf; throws when none comes for 20 s, or the link has ended.
  asio::awaitable<wire::Message> next();
  // One answer for each of so many partitions, by partition.
  asio::awaitable<std::vector<wire::Message>> answers(std::size_t count);
  asio::awaitable<void> wait_for_end();
  void close() { link_->close({Errc::cancelled, "the test is over"}); }

  // A search of these partitions, with a fresh call id and plenty of time.
  wire::SearchCall call(const std::string& query, std::vector<std::uint32_t> partitions, std::uint32_t k = 10);
  wire::FetchCall fetch(std::vector<wire::DocumentAddress> documents);
  wire::SnippetCall snippets(const std::string& query, std::vector<wire::DocumentAddress> documents);
  wire::FacetCall facets(const std::string& query, std::vector<std::uint32_t> partitions, std::vector<std::string> names);
  wire::SpellCall spell(std::vector<std::string> words);
  wire::LookupCall lookup(const std::string& id, std::uint32_t most_terms = 0);
  const wire::Hello& hello() const { return hello_; }

  // Without a link: for making calls.
  explicit RootSide(asio::any_io_executor executor) : arrived_(executor, asio::steady_timer::time_point::max()) {}

 private:
  std::shared_ptr<wire::Link> link_;
  asio::steady_timer arrived_;
  std::deque<wire::Message> messages_;
  bool ended_ = false;
  wire::Hello hello_;
  std::uint64_t last_call_ = 0;

  // A fresh id, and plenty of time.
  template <class Call>
  Call fresh();
};

// "answer", or the word of a failure.
std::string outcome(const wire::Message& message);

}  // namespace hedgerow::leaf
