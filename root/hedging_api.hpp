// Hedging as /v1/cluster and /v1/hedging tell and change it: what queries get that do not say, the budget, what stands in
// the way, and the latest plan with what it is predicted to bring.
#pragma once

#include <boost/system/result.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "root/cluster.hpp"
#include "root/search_parameters.hpp"

namespace hedgerow::root {

nlohmann::ordered_json describe_hedging(const Cluster& cluster, const SearchDefaults& defaults);

// What a body of PUT /v1/hedging asks for; what it does not name stays.
struct HedgingChange {
  std::optional<double> budget_fill;
  std::optional<double> budget_depth;
  std::optional<policy::HedgeChoice> hedge;  // of queries that do not say
};
boost::system::result<HedgingChange, ParameterProblem> parse_hedging_change(const std::string& body);
void apply(const HedgingChange& change, Cluster& cluster, SearchDefaults& defaults, Instant now);

// Says in the log where the defaults can have no effect: hedges and ties where no partition has a second replica.
void log_vain_defaults(const Cluster& cluster, const SearchDefaults& defaults);

}  // namespace hedgerow::root
