// Leaves made by hand and a root's cluster that talks to them over loopback: what the tests of leaf_client and
// fanout_runner share. A fake leaf is honest until a test says otherwise.
//
// The collection: 4 partitions of 10 documents each; partition p answers every query with two hits, documents 10p + 1
// and 10p + 2, scored p + 2 and p + 1.
#pragma once

#include <doctest/doctest.h>

#include <boost/asio.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "root/cluster.hpp"
#include "root/fanout_runner.hpp"
#include "wire/http_server.hpp"
#include "wire/link.hpp"

namespace hedgerow::root {

namespace asio = boost::asio;
using namespace std::chrono_literals;

class FakeLeaf {
 public:
  FakeLeaf(asio::io_context& io, std::string name, std::vector<std::uint32_t> partitions);

  // What it does with a message that is no hello; answer_honestly by default.
  std::function<void(FakeLeaf&, wire::Link&, const wire::Message&)> act;
  void answer_honestly(wire::Link& link, const wire::Message& message);
  // "a <b>word</b> of 31 &amp; more".
  static std::string honest_snippet(std::uint32_t document);
  // Of every facet f: 10 documents with the value all-f, and one with the value p and the partition's number.
  static wire::FacetAnswer honest_facets(const wire::FacetCall& call, PartitionId partition);
  static wire::PartitionAnswer honest_answer(const wire::SearchCall& call, PartitionId partition);

  wire::Hello hello;
  std::vector<wire::Message> received;  // hellos left out
  int links = 0;                        // how many were made
  TopologyLeaf topology() const { return {hello.name, address_, hello.partitions, hello.spelling}; }
  // Of its links that are open now.
  std::shared_ptr<wire::Link> link() const { return link_.lock(); }
  template <class Kind>
  std::vector<Kind> all_received() const {
    std::vector<Kind> all;
    for (const auto& message : received) {
      if (const auto* one = std::get_if<Kind>(&message)) all.push_back(*one);
    }
    return all;
  }
  asio::awaitable<void> stop() { co_await server_.drain(1s); }

 private:
  asio::awaitable<void> serve(std::shared_ptr<wire::Link> link);

  wire::HttpServer server_;
  std::string address_;
  std::weak_ptr<wire::Link> link_;
};

using Act = std::function<void(FakeLeaf&, wire::Link&, const wire::Message&)>;

inline void stay_silent(FakeLeaf&, wire::Link&, const wire::Message&) {}
// Answers searches in its own way, and all else honestly.
inline Act on_search(std::function<void(FakeLeaf&, wire::Link&, const wire::SearchCall&)> answer) {
  return [answer](FakeLeaf& self, wire::Link& link, const wire::Message& message) {
    if (const auto* call = std::get_if<wire::SearchCall>(&message)) return answer(self, link, *call);
    self.answer_honestly(link, message);
  };
}

using Documents = std::vector<std::uint32_t>;
// The partitions that each leaf holds.
using Held = std::vector<std::vector<std::uint32_t>>;

class FakeCluster {
 public:
  // partitions: of each leaf; they are called leaf-0, leaf-1, … Settings are those of the clients.
  explicit FakeCluster(const std::vector<std::vector<std::uint32_t>>& partitions, LeafClientSettings settings = quick());
  ~FakeCluster();
  static LeafClientSettings quick();

  // Runs the test's coroutine to its end, all leaves serving at its beginning unless they cannot; what it throws, it
  // throws.
  template <class Coroutine>
  void run(Coroutine coroutine, bool wait_for_leaves = true) {
    run_to_end([&]() -> asio::awaitable<void> {
      if (wait_for_leaves) co_await until([&] { return serving() == leaves.size(); });
      co_await coroutine();
    });
  }
  // Lets the loop turn until the condition holds; throws when it takes unreasonably long.
  asio::awaitable<void> until(std::function<bool()> condition);
  void apply(const std::vector<std::size_t>& present);
  std::size_t serving() const;
  std::shared_ptr<LeafClient> client(std::size_t leaf) const { return cluster.client_named("leaf-" + std::to_string(leaf)); }
  // Makes all leaves but this one look busy, so that it is asked first.
  void prefer(std::size_t leaf);
  std::uint32_t in_flight(std::size_t leaf) {
    const LeafId id{static_cast<std::uint32_t>(leaf)};
    return cluster.policies().search.replica_choice.in_flight(id) + cluster.policies().side_choice.in_flight(id);
  }

  asio::io_context io{1};
  std::vector<std::unique_ptr<FakeLeaf>> leaves;
  Metrics metrics;
  Cluster cluster;

 private:
  void run_to_end(std::function<asio::awaitable<void>()> coroutine);
};

// A query over all partitions, run by a runner of its own.
struct FakeQuery {
  explicit FakeQuery(FakeCluster& cluster, Duration search_time = 15s, Duration whole_time = 20s, bool trace = false);
  // Not hedged and not tied unless it says so.
  struct Wishes {
    policy::HedgeChoice hedge = {.mode = policy::HedgeChoice::Mode::off, .quantile = 0.95, .delay = {}};
    bool tied = false;
    ServiceClass service_class = ServiceClass::interactive;
    bool trace = false;
    std::uint32_t most_hits = 10;
    std::uint32_t titles = 0;
  };
  FakeQuery(FakeCluster& cluster, const Wishes& wishes, Duration search_time = 15s, Duration whole_time = 20s);
  // "leaf-1 took it" aside: the documents merged so far, best first.
  std::vector<std::uint32_t> documents();
  policy::PartitionState state(std::size_t index) const { return runner.fanout().state_of(index); }

  QueryPlan plan;
  Assignment assignment;
  FanoutRunner runner;
};

}  // namespace hedgerow::root
