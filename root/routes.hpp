// The root's HTTP API as a table: path to handler.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <vector>

#include "root/canary_service.hpp"
#include "root/cluster.hpp"
#include "root/metrics.hpp"
#include "root/query_service.hpp"
#include "root/search_parameters.hpp"
#include "wire/http_router.hpp"

namespace hedgerow::root {

struct RoutesSetting {
  boost::asio::any_io_executor executor;
  QueryService& queries;
  Cluster& cluster;
  CanaryService& canaries;
  Metrics& metrics;
  SearchDefaults& defaults;  // changed by PUT /v1/hedging
  const bool& draining;
};

// What is given must outlive the routes.
std::vector<wire::Route> routes(RoutesSetting setting);

}  // namespace hedgerow::root
