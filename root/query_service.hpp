// One query, from parameters to answer: read this first.
//
//   plan (index/query against the statistics; of like=ID, after its document was looked up) → results cache →
//   assignment (which partitions, which leaves) → search phase (fanout_runner performs what policy/query/fanout decides)
//   → merge → second phase (titles of the final hits) → answer
//
// Beside them run the optional subsystems: spelling and facets from the start, snippets beside the titles
// (subsystem_runner performs what policy/query/subsystems decides). None of them can delay or fail the hits.
//
// On the root's thread. The deadline counts from the moment the request was received. Bound: queries in flight; beyond
// it a query is refused at once with 503.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <optional>

#include "index/query.hpp"
#include "index/statistics.hpp"
#include "index/synonyms.hpp"
#include "root/answer.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/result_cache.hpp"
#include "root/search_parameters.hpp"
#include "wire/http.hpp"

namespace hedgerow::root {

class QueryService {
 public:
  struct Limits {
    std::size_t most_queries = 1024;
    std::size_t cache_bytes = 64 << 20;
  };
  QueryService(boost::asio::any_io_executor executor, CollectionStatistics statistics, Cluster& cluster, Metrics& metrics,
               const Limits& limits);

  using Outcome = boost::system::result<SearchAnswer, SearchRefusal>;
  // client may be null (nobody whose leaving could be noticed).
  boost::asio::awaitable<Outcome> search(const SearchParameters& parameters, Instant received, wire::ClientWatch* client);

  // One document by its id.
  using DocumentOutcome = boost::system::result<DocumentAnswer, SearchRefusal>;
  boost::asio::awaitable<DocumentOutcome> document(const std::string& id, Duration deadline, Instant received,
                                                   wire::ClientWatch* client);

  // Replaces the synonyms (nullopt: none); answers that were made by the ones before are given no more.
  void use(std::optional<Synonyms> synonyms);
  // What answers depend on has changed: none that was kept is given any more.
  void forget_answers() { cache_.clear(); }

  std::size_t in_flight() const { return in_flight_; }

 private:
  using Plan = boost::system::result<QueryPlan, SearchRefusal>;

  boost::asio::awaitable<Outcome> search_admitted(const SearchParameters& parameters, Instant received,
                                                  wire::ClientWatch* client);
  boost::asio::awaitable<Plan> plan(const SearchParameters& parameters, Instant deadline, wire::ClientWatch* client);
  boost::asio::awaitable<Outcome> ask_leaves(const SearchParameters& parameters, const QueryPlan& plan,
                                             const std::vector<std::string>& facets, Instant received, Instant planned,
                                             wire::ClientWatch* client);
  boost::asio::awaitable<result<wire::LookupAnswer>> look_up(const std::string& id, std::uint32_t most_terms,
                                                             Instant deadline, wire::ClientWatch* client);
  void count(const Outcome& outcome, Duration took);

  boost::asio::any_io_executor executor_;
  CollectionStatistics statistics_;
  std::optional<Synonyms> synonyms_;
  Cluster& cluster_;
  Metrics& metrics_;
  Limits limits_;
  ResultCache cache_;
  std::size_t in_flight_ = 0;
};

}  // namespace hedgerow::root
