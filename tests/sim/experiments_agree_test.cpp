// Every experiment in virtual time, in its full size, agrees: as the command does it, one after another.
#include <doctest/doctest.h>

#include <chrono>

#include "lab/experiments/experiments.hpp"

namespace hedgerow::lab {

namespace {

ExperimentResult run(const char* name, std::uint64_t seed) {
  const Experiment* experiment = find_experiment(name);
  REQUIRE(experiment);
  ExperimentRequest request;
  request.seed = seed;
  const auto begin = std::chrono::steady_clock::now();
  auto result = experiment->simulated(request);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  REQUIRE_MESSAGE(result.has_value(), to_string(result.error()));
  CHECK_MESSAGE(seconds < 180, name, " takes ", seconds, " s");
  MESSAGE(name, ": ", seconds, " s, ", result->findings.size(), " findings");
  return std::move(*result);
}

}  // namespace

TEST_CASE("every simulated experiment agrees with the paper, its closed form or our bars") {
  // hedged and tied have tests of their own.
  for (const char* name : {"amplification", "leaf-percentiles", "canary", "good-enough", "background", "classes", "overload", "subsystems"}) {
    CAPTURE(name);
    const auto result = run(name, 1);
    for (const auto& disagreement : result.disagreements()) FAIL_CHECK(disagreement);
    CHECK_FALSE(result.charts.empty());
    CHECK_FALSE(result.tables.empty());
  }
}

TEST_CASE("the same seed gives the same figures") {
  const auto first = run("canary", 3), second = run("canary", 3);
  CHECK(first.figures == second.figures);
}

}  // namespace hedgerow::lab
