// The flags of `hedgerow-lab sweep` that say what a plan says, in a line each: laid over the plan file's JSON, if there is
// one, so that what a flag names replaces what the file has. Pure.
//
//   --deadline 20ms,50ms            deadlines
//   --fanout 4,8,all                fanouts
//   --policy hedged:hedge=auto,hedge_budget_fill=0.02      a policy; more flags, more policies
//   --fault late:leaf=0,kind=late,delay=200ms              a fault; two of one name are one set; "--fault none" is a healthy cluster
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace hedgerow::lab::sweep {

struct PlanFlags {
  std::vector<std::string> deadlines, fanouts, policies, faults;
  std::optional<std::uint64_t> repetitions, seed;
  std::optional<double> rate;
  std::string duration, warm_up, arrivals, queries, name;  // empty: not given
  bool reference = false;
  std::string qrels;
  std::optional<std::uint64_t> k;
  bool simulated = false;
  std::string index, service;
  std::optional<std::uint64_t> leaves, replicas, workers, partitions;
  std::string anew;
};

// Errors: invalid_argument, naming the flag.
result<nlohmann::ordered_json> with_flags(nlohmann::ordered_json plan, const PlanFlags& flags);

}  // namespace hedgerow::lab::sweep
