// One query, from parameters to answer: read this first.
//
//   admission (waiting_room: let in, made to wait, or refused; under load queries are spared something) →
//   plan (index/query against the statistics; of like=ID, after its document was looked up) → results cache →
//   assignment (which partitions, which leaves) → canary (a query not known to be safe is tried on one leaf; a quarantined
//   one is refused) → search phase (fanout_runner performs what policy/query/fanout decides)
//   → merge → second phase (titles of the final hits) → answer
//
// Beside them run the optional subsystems: spelling and facets from the start, snippets beside the titles
// (subsystem_runner performs what policy/query/subsystems decides). None of them can delay or fail the hits.
//
// On the root's thread. The deadline counts from the moment the request was received. Bounds are those of
// policy/cluster/admission: queries in flight, and queries that wait for their turn; beyond both a query is refused with 503.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>
#include <optional>

#include "index/query.hpp"
#include "index/statistics.hpp"
#include "index/synonyms.hpp"
#include "root/answer.hpp"
#include "root/canary_service.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/result_cache.hpp"
#include "root/search_parameters.hpp"
#include "root/waiting_room.hpp"
#include "wire/http.hpp"

namespace hedgerow::root {

class QueryService {
 public:
  struct Limits {
    policy::AdmissionSettings admission;
    std::size_t cache_bytes = 64 << 20;
    std::uint64_t seed = 1;
    double titles_with_hits = 0.1;  // a hit brings its title whose chance to be one of the answer's is at least this
  };
  QueryService(boost::asio::any_io_executor executor, CollectionStatistics statistics, Cluster& cluster,
               CanaryService& canaries, Metrics& metrics, const Limits& limits);

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

  const policy::Admission& admission() const { return waiting_room_.admission(); }

 private:
  using Plan = boost::system::result<QueryPlan, SearchRefusal>;

  boost::asio::awaitable<Outcome> search_admitted(const SearchParameters& parameters, Instant received,
                                                  wire::ClientWatch* client, WaitingRoom::Place& place);
  boost::asio::awaitable<Plan> plan(const SearchParameters& parameters, Instant deadline, wire::ClientWatch* client);
  boost::asio::awaitable<Outcome> ask_leaves(const SearchParameters& parameters, const QueryPlan& plan,
                                             const std::vector<std::string>& facets, Instant received, Instant planned,
                                             wire::ClientWatch* client, WaitingRoom::Place& place);
  boost::asio::awaitable<result<wire::LookupAnswer>> look_up(const std::string& id, std::uint32_t most_terms,
                                                             Instant deadline, wire::ClientWatch* client);
  SearchRefusal refusal_by_canary(const CanaryRequest& canary, policy::CanaryAnswer answer, const Assignment& assignment);
  void count(const Outcome& outcome, Duration took);

  boost::asio::any_io_executor executor_;
  CollectionStatistics statistics_;
  std::optional<Synonyms> synonyms_;
  Cluster& cluster_;
  CanaryService& canaries_;
  Metrics& metrics_;
  WaitingRoom waiting_room_;
  ResultCache cache_;
  double titles_with_hits_;
};

}  // namespace hedgerow::root
