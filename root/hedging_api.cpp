#include "root/hedging_api.hpp"

#include <cmath>
#include <limits>

#include "base/log.hpp"
#include "root/json_body.hpp"
#include "root/policy_words.hpp"

namespace hedgerow::root {

using Json = nlohmann::ordered_json;
using policy::HedgeObstacle;

namespace {

Json milliseconds_or_null(Duration duration) {
  if (duration == policy::LatencyModel::longer_than_known) return nullptr;
  return std::round(to_milliseconds(duration) * 1000) / 1000;
}

// What stands in the way now: from the start and for good, or of the latest query.
HedgeObstacle obstacle_of(const Cluster& cluster, const SearchDefaults& defaults) {
  const HedgeObstacle lasting = policy::obstacle_at_start(defaults.hedge, cluster.most_replicas());
  return lasting != HedgeObstacle::none ? lasting : cluster.policies().search.hedging.obstacle();
}

}  // namespace

Json describe_hedging(const Cluster& cluster, const SearchDefaults& defaults) {
  const auto& hedging = cluster.policies().search.hedging;
  const auto& plan = hedging.latest();
  const auto& budget = hedging.budget();
  Json suppressed = Json::object();
  for (std::size_t i = 1; i < policy::hedge_obstacles; ++i) {
    const auto obstacle = static_cast<HedgeObstacle>(i);
    if (const auto count = hedging.suppressed(obstacle)) suppressed[std::string(to_string(obstacle))] = count;
  }
  Json predicted = nullptr;  // until there was a plan
  if (plan.without_hedges > Duration::zero()) {
    predicted = {{"target_quantile", hedging.settings().target_quantile},
                 {"with_hedges_ms", milliseconds_or_null(plan.with_hedges)},
                 {"without_hedges_ms", milliseconds_or_null(plan.without_hedges)},
                 {"extra_share", plan.extra_share}};
  }
  Json delays = Json::array();
  for (const auto delay : plan.delays) delays.push_back(milliseconds_or_null(delay));
  return {{"default", to_text(defaults.hedge)},
          {"obstacle", to_string(obstacle_of(cluster, defaults))},
          {"delays_ms", std::move(delays)},
          {"probability", plan.probability},
          {"predicted", std::move(predicted)},
          {"budget",
           {{"fill", budget.fill()},
            {"depth", budget.depth()},
            {"tokens", std::round(budget.tokens() * 1000) / 1000},
            {"refused", budget.refused()}}},
          {"suppressed", std::move(suppressed)},
          {"most_hedges", hedging.settings().most_hedges},
          {"tied", defaults.tied ? "on" : "off"}};
}

boost::system::result<HedgingChange, ParameterProblem> parse_hedging_change(const std::string& body) {
  const auto json = parse_json_object(body);
  if (json.has_error()) return json.error();
  HedgingChange change;
  for (const auto& [name, value] : json->items()) {
    const auto bad = [&, &name = name](const std::string& wanted) {
      return ParameterProblem{"bad-parameter", "'" + name + "' takes " + wanted + ".", name};
    };
    // NaN passes no comparison, and JSON has none.
    const auto number = [&, &value = value](double most) -> std::optional<double> {
      if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= most)) return std::nullopt;
      return value.get<double>();
    };
    if (name == "budget_fill") {
      change.budget_fill = number(1);
      if (!change.budget_fill) return bad("a number from 0 to 1");
    } else if (name == "budget_depth") {
      change.budget_depth = number(1e6);
      if (!change.budget_depth) return bad("a number from 0 to 1000000");
    } else if (name == "default") {
      const auto hedge = parse_hedge(value.is_string() ? value.get<std::string>() : "");
      if (hedge.has_error()) return ParameterProblem{"bad-parameter", "'default' " + hedge.error().context + ".", name};
      change.hedge = *hedge;
    } else {
      return unknown_parameter(name);
    }
  }
  return change;
}

void apply(const HedgingChange& change, Cluster& cluster, SearchDefaults& defaults, Instant now) {
  auto& search = cluster.policies().search;
  if (change.budget_fill || change.budget_depth) {
    const auto& budget = search.hedging.budget();
    search.set_hedge_budget(change.budget_fill.value_or(budget.fill()), change.budget_depth.value_or(budget.depth()), now);
  }
  if (change.hedge) defaults.hedge = *change.hedge;
  const auto& budget = search.hedging.budget();
  log_event(LogLevel::info, "hedging_changed",
            {{"default", to_text(defaults.hedge)}, {"budget_fill", budget.fill()}, {"budget_depth", budget.depth()}});
  log_vain_defaults(cluster, defaults);
}

void log_vain_defaults(const Cluster& cluster, const SearchDefaults& defaults) {
  const std::size_t most = cluster.most_replicas();
  const char* reason = "no partition has a second replica";
  if (policy::obstacle_at_start(defaults.hedge, most) == HedgeObstacle::no_replica) {
    log_event(LogLevel::warning, "hedging_without_effect", {{"default", to_text(defaults.hedge)}, {"reason", reason}});
  }
  if (defaults.tied && most < 2) log_event(LogLevel::warning, "ties_without_effect", {{"reason", reason}});
}

}  // namespace hedgerow::root
