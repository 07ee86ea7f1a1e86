// One query, from parameters to answer: read this first.
//
//   plan (index/query against the statistics) → assignment (which partitions, which leaves) → search phase
//   (fanout_runner performs what policy/query/fanout decides) → merge → second phase (titles of the final hits) → answer
//
// On the root's thread. The deadline counts from the moment the request was received. Bound: queries in flight; beyond
// it a query is refused at once with 503.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/system/result.hpp>

#include "index/statistics.hpp"
#include "root/answer.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/search_parameters.hpp"
#include "wire/http.hpp"

namespace hedgerow::root {

class QueryService {
 public:
  QueryService(boost::asio::any_io_executor executor, CollectionStatistics statistics, Cluster& cluster, Metrics& metrics,
               std::size_t most_queries);

  using Outcome = boost::system::result<SearchAnswer, SearchRefusal>;
  // client may be null (nobody whose leaving could be noticed).
  boost::asio::awaitable<Outcome> search(const SearchParameters& parameters, Instant received, wire::ClientWatch* client);

  std::size_t in_flight() const { return in_flight_; }

 private:
  boost::asio::awaitable<Outcome> search_admitted(const SearchParameters& parameters, Instant received,
                                                  wire::ClientWatch* client);

  boost::asio::any_io_executor executor_;
  CollectionStatistics statistics_;
  Cluster& cluster_;
  Metrics& metrics_;
  std::size_t most_queries_;
  std::size_t in_flight_ = 0;
};

}  // namespace hedgerow::root
