// An advice held against the simulator: the root's own policies on leaves that take as long as the samples did. Pure;
// the same seed gives the same check.
//
// - The figures: leaves without queues, for the samples have their queues in them. One run without hedges, one with the
//   root's automatic hedging within the budget (or with the one delay that was to be judged).
// - The load: leaves with queues, whose service is the samples, shortened to what the queue's law holds for work; at
//   several loads, with and without hedges, brakes off. A query asks a fifth of the leaves, replicas chosen at random, so
//   waits are nearly independent. The simulator cancels losers, so what is harmful here comes later than predicted: below the
//   lowest load that was called harmful hedging must not harm.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/advise/advice.hpp"

namespace hedgerow::lab {

struct AdviceCheckSettings {
  std::uint64_t seed = 1;
  // Attempts in each run, about; more give steadier figures. 0: the load is not checked.
  std::uint64_t attempts = 8'000'000;
  std::uint64_t attempts_under_load = 2'000'000;
};

struct AdviceCheck {
  struct Figure {
    double quantile;
    std::optional<double> predicted_without_ms;
    double simulated_without_ms = 0;
    std::optional<double> predicted_with_ms, simulated_with_ms;  // none where nothing is hedged
  };
  struct Loaded {
    double load;
    double predicted_without_ms = 0;
    std::optional<double> predicted_with_ms;  // none: they could not keep up
    double simulated_without_ms = 0, simulated_with_ms = 0;
    double simulated_extra = 0;
  };

  std::uint64_t seed = 0, queries = 0;
  double target = 0;
  std::vector<Figure> figures;
  double predicted_extra = 0, simulated_extra = 0;
  double quantile_under_load = 0;
  double lowest_harmful = 1;
  std::vector<Loaded> loads;
  std::uint64_t violated = 0;  // invariants of the simulator

  // Of the target with hedges: simulated over predicted, less 1. nullopt: nothing was predicted, or nothing is hedged.
  std::optional<double> difference() const;
  // In words; empty: it agrees. The target with hedges within bearable_difference, no harm below the lowest harmful load.
  std::vector<std::string> disagreements() const;
  nlohmann::json to_json() const;
  std::string to_text() const;
};

// What the simulator cannot do: more than a thousand partitions, delays that are no multiples of the first.
std::optional<Error> problem_with_check(const AdviceQuestion& question);

// Precondition: neither problem_with nor problem_with_check finds anything, and the advice is of this question.
AdviceCheck check_advice(const AdviceQuestion& question, const Advice& advice, const AdviceCheckSettings& settings);

}  // namespace hedgerow::lab
