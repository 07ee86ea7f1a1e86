// The invariants hold in random worlds; and they can fail: each deliberate mistake of the host is found.

#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/simulation/random_world.hpp"
#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab::simulation {

namespace {

struct Seen {
  std::uint64_t hedges = 0, retries = 0, tied = 0, probes = 0, late_answers = 0, second_answers = 0, both_began = 0, superseded = 0,
                expired = 0, refused = 0, good_enough = 0, deadline = 0, abandoned = 0, queries_refused = 0, turned_away = 0, killed = 0,
                spelling = 0, canaries = 0;
};

// Of 500 seeds: each holds every invariant; and together they saw all that they are there for.
void check_worlds(std::uint64_t first) {
  Seen seen;
  for (std::uint64_t seed = first; seed < first + 500; ++seed) {
    const WorldSettings world = random_world(seed, 30);
    REQUIRE(settings_error(world) == "");
    const Report report = simulate(world);
    CHECK_MESSAGE(report.violated == 0, "hedgerow-lab simulate --random-worlds 1 --queries 30 --seed ", seed, ": ",
                  report.violations.empty() ? "" : report.violations.front());
    const auto of = [&](AttemptKind kind) { return report.measured.attempts[static_cast<std::size_t>(kind)]; };
    const auto finished = [&](policy::FinishReason reason) { return report.measured.finished[static_cast<std::size_t>(reason)]; };
    const auto& measured = report.measured;
    CHECK(measured.queries + measured.abandoned + measured.refused + measured.quarantined + measured.without_verdict == 30);
    seen.queries_refused += measured.refused;
    seen.turned_away += measured.quarantined + measured.without_verdict;
    seen.killed += report.leaves.killed;
    seen.spelling += measured.spelling[static_cast<std::size_t>(policy::SubsystemStatus::ok)];
    seen.canaries += of(AttemptKind::canary);
    seen.hedges += of(AttemptKind::hedge);
    seen.retries += of(AttemptKind::retry);
    seen.tied += of(AttemptKind::tied);
    seen.probes += of(AttemptKind::probe);
    seen.late_answers += report.leaves.late_answers;
    seen.second_answers += report.leaves.second_answers;
    seen.both_began += report.leaves.both_began;
    seen.superseded += report.leaves.superseded;
    seen.expired += report.leaves.expired;
    seen.refused += report.leaves.refused;
    seen.good_enough += finished(policy::FinishReason::good_enough);
    seen.deadline += finished(policy::FinishReason::deadline);
    seen.abandoned += report.measured.abandoned;
  }
  CHECK(seen.hedges > 100);
  CHECK(seen.retries > 100);
  CHECK(seen.tied > 1000);
  CHECK(seen.probes > 0);
  CHECK(seen.late_answers > 100);
  CHECK(seen.second_answers > 10);
  CHECK(seen.both_began > 100);
  CHECK(seen.superseded > 100);
  CHECK(seen.expired > 10);
  CHECK(seen.refused > 100);
  CHECK(seen.good_enough > 100);
  CHECK(seen.deadline > 500);
  CHECK(seen.abandoned > 100);
  CHECK(seen.queries_refused > 10);
  CHECK(seen.turned_away > 10);
  CHECK(seen.killed > 0);
  CHECK(seen.spelling > 100);
  CHECK(seen.canaries > 100);
}

}  // namespace

TEST_CASE("in random worlds every invariant holds after every event: seeds 1 to 500") { check_worlds(1); }
TEST_CASE("in random worlds every invariant holds after every event: seeds 501 to 1000") { check_worlds(501); }
TEST_CASE("in random worlds every invariant holds after every event: seeds 1001 to 1500") { check_worlds(1001); }
TEST_CASE("in random worlds every invariant holds after every event: seeds 1501 to 2000") { check_worlds(1501); }

TEST_CASE("every deliberate mistake of the host is found") {
  struct Row {
    Sabotage sabotage;
    const char* found;  // a part of what is said of it
  };
  const Row rows[] = {
      {Sabotage::merge_twice, "merged twice"},
      {Sabotage::answer_late, "answered after its search's end"},
      {Sabotage::answer_twice, "answered twice"},
      {Sabotage::forget_wake, "no wake ahead"},
      {Sabotage::forget_cancel, "under way"},
      {Sabotage::hedge_unpaid, "beyond the budget"},
      {Sabotage::ask_again, "asked twice"},
      {Sabotage::keep_record, "left when all is over"},
      {Sabotage::forget_leaving, "admission counts"},
  };
  CHECK(std::size(rows) + 1 == sabotages);
  for (const Row& row : rows) {
    CAPTURE(to_string(row.sabotage));
    int worlds = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      WorldSettings world = random_world(seed, 60);
      world.sabotage = row.sabotage;
      if (row.sabotage == Sabotage::forget_leaving && !world.admission) world.admission.emplace();
      const Report report = simulate(world);
      const bool found = std::any_of(report.violations.begin(), report.violations.end(), [&](const std::string& violation) {
        return violation.find(row.found) != std::string::npos;
      });
      worlds += found;
    }
    CHECK(worlds >= 10);
  }
}

TEST_CASE("the same settings give the same report to the last digit") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WorldSettings world = random_world(seed, 50);
    CHECK(simulate(world).to_json() == simulate(world).to_json());
  }
  CHECK(simulate(random_world(1, 50)).to_json() != simulate(random_world(2, 50)).to_json());
}

}  // namespace hedgerow::lab::simulation
