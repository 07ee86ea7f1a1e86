// Every experiment in virtual time agrees. Several are run here with fewer queries than the command's, where the tolerances
// that they state leave room for it; scripts/experiments runs them in their full size. (hedged and tied have files of their
// own.) One test case each, so that they can run beside each other.
#include <doctest/doctest.h>

#include <optional>

#include "lab/experiments/experiments.hpp"

namespace hedgerow::lab {

namespace {

ExperimentResult run_simulated(const char* name, std::optional<std::uint64_t> queries = std::nullopt, std::uint64_t seed = 1) {
  const Experiment* experiment = find_experiment(name);
  REQUIRE(experiment);
  ExperimentRequest request;
  request.seed = seed;
  request.queries = queries;
  auto result = experiment->simulated(request);
  REQUIRE_MESSAGE(result.has_value(), to_string(result.error()));
  return std::move(*result);
}

void check_agrees(const char* name, std::optional<std::uint64_t> queries = std::nullopt) {
  const auto result = run_simulated(name, queries);
  for (const auto& disagreement : result.disagreements()) FAIL_CHECK(disagreement);
  CHECK(result.agrees());
  CHECK_FALSE(result.charts.empty());
  CHECK_FALSE(result.tables.empty());
}

}  // namespace

TEST_CASE("amplification, simulated, agrees with the paper and its closed form") { check_agrees("amplification", 12'000); }
TEST_CASE("leaf-percentiles, simulated, agrees with the paper's Table 1 and the fit's closed form") {
  check_agrees("leaf-percentiles", 4'000);
}
TEST_CASE("canary, simulated, agrees with the paper and its closed form") { check_agrees("canary"); }
TEST_CASE("good-enough, simulated, agrees with its closed form") { check_agrees("good-enough", 5'000); }
TEST_CASE("background, simulated, agrees with its closed form") { check_agrees("background", 40'000); }
TEST_CASE("classes, simulated, agrees with its closed forms") { check_agrees("classes"); }
TEST_CASE("overload, simulated, keeps to our bars") { check_agrees("overload"); }
TEST_CASE("subsystems, simulated, keeps to the ration of waits in vain") { check_agrees("subsystems", 100'000); }

TEST_CASE("the same seed gives the same figures, and another one others") {
  const auto first = run_simulated("canary", 1'000, 3), second = run_simulated("canary", 1'000, 3), other = run_simulated("canary", 1'000, 4);
  CHECK(first.figures == second.figures);
  CHECK(first.figures != other.figures);
}

}  // namespace hedgerow::lab
