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
    // Each with its interval: what the samples tell of the prediction, and the run of what was measured.
    TimeEstimate predicted, measured;
  };
  double target = 0;
  std::uint64_t queries = 0;
  std::vector<Row> rows;

  const Row* at_target() const;
  // Measured over predicted at the target, less 1. nullopt: one of the two is not known.
  std::optional<double> difference() const;
  // Within bearable_difference. What is not known agrees with nothing.
  bool agrees() const;
  // At the target the two intervals have no time in common: no chance of the samples or of the run explains the difference.
  bool beyond_chance() const;
  nlohmann::json to_json() const;
  std::string to_text() const;
};

// queries: what was measured, two at least; and those that were given up after so long.
HedgedRunCheck compare_with_run(const AdviceQuestion& question, const Advice& advice, const LatencyCounts& queries, const LatencyCounts& given_up = {});

}  // namespace hedgerow::lab
