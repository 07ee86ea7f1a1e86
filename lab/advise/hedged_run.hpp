// A prediction held against a run that was hedged as advised: latencies of whole queries. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/advise/advice.hpp"

namespace hedgerow::lab {

struct HedgedRunCheck {
  struct Row {
    double quantile;
    std::optional<Duration> predicted;
    TimeEstimate measured;
  };
  double target = 0;
  std::uint64_t queries = 0;
  std::vector<Row> rows;

  // Measured over predicted at the target, less 1. nullopt: one of the two is not known.
  std::optional<double> difference() const;
  // Within 15 %. What is not known agrees with nothing.
  bool agrees() const;
  nlohmann::json to_json() const;
  std::string to_text() const;
};

// queries: what was measured, two at least.
HedgedRunCheck compare_with_run(const AdviceQuestion& question, const Advice& advice, const LatencyCounts& queries);

}  // namespace hedgerow::lab
