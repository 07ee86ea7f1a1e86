// The settings of search policies as a recording holds them: every field by name. A field that is left out here would
// make replays differ, so the structures' sizes are held.
#pragma once

#include <string_view>
#include <type_traits>

#include "root/policy/cluster/search_policies.hpp"

namespace hedgerow::policy {

constexpr std::string_view recording_format = "hedgerow-recording 1";

// visit(name, field): of settings that may be changed or not.
template <class Settings, class Visit>
void for_each_setting(Settings& settings, Visit&& visit) {
  static_assert(sizeof(HedgeSettings) == 48 && sizeof(ReplicaChoiceSettings) == 96 && sizeof(SearchPolicySettings) == 160,
                "a new setting must be recorded");
  visit("retry_fill", settings.retry_fill);
  visit("retry_depth", settings.retry_depth);
  visit("hedge.budget_fill", settings.hedge.budget_fill);
  visit("hedge.budget_depth", settings.hedge.budget_depth);
  visit("hedge.target_quantile", settings.hedge.target_quantile);
  visit("hedge.most_hedges", settings.hedge.most_hedges);
  visit("hedge.shortest_delay", settings.hedge.shortest_delay);
  visit("hedge.brakes", settings.hedge.brakes);
  auto& choice = settings.replica_choice;
  visit("choice.mode", choice.mode);
  visit("choice.hot_quantile", choice.hot_quantile);
  visit("choice.alike", choice.alike);
  visit("choice.alike_at_least", choice.alike_at_least);
  visit("choice.slow", choice.slow);
  visit("choice.slow_at_least", choice.slow_at_least);
  visit("choice.half_life", choice.half_life);
  visit("choice.least_weight", choice.least_weight);
  visit("choice.careful_in_flight", choice.careful_in_flight);
  visit("choice.stale_after", choice.stale_after);
  visit("choice.probe_share", choice.probe_share);
  visit("choice.probe_burst", choice.probe_burst);
}

// Durations in nanoseconds, words by their place.
template <class Value>
constexpr auto as_number(const Value& value) {
  if constexpr (std::is_same_v<Value, Duration>) {
    return value.count();
  } else if constexpr (std::is_enum_v<Value>) {
    return static_cast<std::underlying_type_t<Value>>(value);
  } else {
    return value;
  }
}

}  // namespace hedgerow::policy
