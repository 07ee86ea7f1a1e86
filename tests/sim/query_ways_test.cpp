// What stands around the search in a simulated root (admission, canaries, spelling), and what leaves do beside it (upkeep,
// what a query has in common), against arithmetic and the laws of the policies that are hosted.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/simulation/simulation.hpp"

namespace hedgerow::lab::simulation {

using namespace std::chrono_literals;
using policy::FinishReason;
using policy::SubsystemStatus;

namespace {

// Leaves that always take 5 ms, on a way of 0.5 ms: a query takes 6 ms.
WorldSettings steady_world() {
  WorldSettings world;
  world.leaves = world.partitions = 10;
  world.replicas = 2;
  world.workers = 0;
  world.service = ServiceTime::constant(5ms);
  world.network = ServiceTime::constant(500us);
  world.rate = 50;
  world.queries = 500;
  world.shapes.front().hedge.mode = policy::HedgeChoice::Mode::off;
  return world;
}

std::uint64_t with(const QueryFigures& figures, FinishReason reason) { return figures.finished[static_cast<std::size_t>(reason)]; }
std::uint64_t with(const QueryFigures& figures, SubsystemStatus status) { return figures.spelling[static_cast<std::size_t>(status)]; }

// One leaf of one worker for which a query is 10 ms of work: a hundred in a second, and no more.
WorldSettings small_world(double rate) {
  WorldSettings world;
  world.leaves = world.partitions = world.replicas = 1;
  world.workers = 1;
  world.service = ServiceTime::constant(10ms);
  world.shapes.front().hedge.mode = policy::HedgeChoice::Mode::off;
  world.rate = rate;
  world.queries = static_cast<std::uint64_t>(20 * rate);
  world.warm_up = static_cast<std::uint64_t>(5 * rate);
  return world;
}

}  // namespace

TEST_CASE("an observer is told of every query once, with what came of it") {
  WorldSettings world = steady_world();
  world.warm_up = 100;
  std::size_t told = 0, measured = 0;
  Instant last{};
  const Report report = simulate(world, [&](const QueryEnd& end) {
    ++told;
    measured += end.measured ? 1 : 0;
    CHECK(end.latency == 6ms);
    REQUIRE(end.search);
    for (std::size_t i = 0; i < end.search->partitions().size(); ++i) CHECK(end.search->state_of(i) == policy::PartitionState::answered);
    CHECK(end.arrived + end.latency >= last);
    last = end.arrived + end.latency;
  });
  CHECK(told == 600);
  CHECK(measured == 500);
  CHECK(report.violated == 0);
}

TEST_CASE("what a query has in common is added to each of its attempts, and drawn once for each query") {
  WorldSettings world = steady_world();
  world.network = ServiceTime::constant(0ms);
  world.shapes.front().shared = *ServiceTime::parse("uniform:0ms..100ms");
  world.queries = 20'000;
  const Report report = simulate(world);
  CHECK(report.violated == 0);
  // Were it drawn for each of the ten attempts, half of the queries would take longer than 5 + 93 ms.
  CHECK(report.measured.quantile_ms(0.5) == doctest::Approx(55).epsilon(0.03));
  CHECK(report.measured.quantile_ms(0.9) == doctest::Approx(95).epsilon(0.02));
}

TEST_CASE("an attempt of several draws takes as long as all of them") {
  WorldSettings world = steady_world();
  world.shapes.front().draws = 7;
  const Report report = simulate(world);
  CHECK(report.measured.latency.min() == 36'000'000);
  CHECK(report.measured.latency.max() == 36'000'000);
}

TEST_CASE("while upkeep lasts a leaf begins nothing: a query waits for what is left of it") {
  WorldSettings world = steady_world();
  world.network = ServiceTime::constant(0ms);
  world.replicas = 1;  // nobody can be asked instead
  world.rate = 97;
  world.queries = 40'000;
  world.upkeep = {1s, 100ms, Upkeep::Phase::aligned};
  Report report = simulate(world);
  CHECK(report.violated == 0);
  // A tenth of the queries come then, and wait for up to 100 ms, each time as likely as another.
  CHECK(report.measured.longer_than(5100us) == doctest::Approx(0.1).epsilon(0.06).scale(0));
  CHECK(report.measured.longer_than(55ms) == doctest::Approx(0.05).epsilon(0.08).scale(0));
  CHECK(to_milliseconds(Duration(report.measured.latency.max())) == doctest::Approx(105).epsilon(0.01));

  // Ten leaves, a tenth of the period apart: somewhere there is always one, and what is left is of the last to begin.
  world.upkeep.phase = Upkeep::Phase::staggered;
  report = simulate(world);
  CHECK(report.violated == 0);
  CHECK(report.measured.longer_than(5100us) == doctest::Approx(1).epsilon(0.01));
  CHECK(report.measured.longer_than(55ms) == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("at three times the capacity admission leaves most of it to whole answers, and refuses the rest") {
  WorldSettings world = small_world(300);
  world.admission.emplace();
  const Report with_admission = simulate(world);
  CHECK(with_admission.violated == 0);
  const double seconds = 20, complete = static_cast<double>(with(with_admission.measured, FinishReason::complete));
  CHECK(complete / seconds >= 0.7 * 100);
  CHECK(complete / seconds <= 1.02 * 100);
  CHECK(with_admission.measured.refused > 0.5 * 6000);
  // Each query is answered or refused.
  CHECK(with_admission.measured.queries + with_admission.measured.refused == 6000);
}

TEST_CASE("at little load admission refuses nobody and changes no latency") {
  WorldSettings world = small_world(30);
  const Report without = simulate(world);
  world.admission.emplace();
  const Report with_admission = simulate(world);
  CHECK(with_admission.measured.refused == 0);
  CHECK(with_admission.measured.quantile_ms(0.99) == doctest::Approx(without.measured.quantile_ms(0.99)).epsilon(0.25));
}

TEST_CASE("under load a query of many partitions is narrowed, one that must be whole is not") {
  for (const bool partial : {true, false}) {
    CAPTURE(partial);
    WorldSettings world = small_world(300);
    world.partitions = 8;
    world.service = ServiceTime::constant(1250us);
    world.admission.emplace();
    world.shapes.front().partial = partial;
    std::size_t narrowest = 8;
    simulate(world, [&](const QueryEnd& end) {
      if (end.search) narrowest = std::min(narrowest, end.search->partitions().size());
    });
    CHECK(narrowest == (partial ? 4 : 8));
  }
}

TEST_CASE("a first-seen query takes one leaf's time and way longer than a repeated one, and its canary's answer is used") {
  WorldSettings world = steady_world();
  world.canaries.emplace();
  const Report first = simulate(world);
  CHECK(first.violated == 0);
  CHECK(first.measured.latency.min() == 12'000'000);
  CHECK(first.measured.quantile_ms(0.5) == doctest::Approx(12).epsilon(0.001));
  CHECK(first.measured.completeness() == 1);
  CHECK(first.measured.extra_share() == doctest::Approx(0).epsilon(0.01));

  world.shapes.front().texts = 10;
  world.warm_up = 300;
  const Report repeated = simulate(world);
  CHECK(repeated.violated == 0);
  CHECK(repeated.measured.quantile_ms(0.99) == doctest::Approx(6).epsilon(0.001));
}

TEST_CASE("a deadly query takes down two leaves at most with canaries, and all that it reaches without") {
  for (const bool canaries : {true, false}) {
    CAPTURE(canaries);
    WorldSettings world = steady_world();
    world.replicas = 3;
    world.queries = 2'000;
    world.restart_time = 10min;
    world.shapes.front().texts = 20;
    world.shapes.front().weight = 0.98;
    QueryShape deadly = world.shapes.front();
    deadly.weight = 0.02;
    deadly.texts = 1;
    deadly.deadly = true;
    world.shapes.push_back(deadly);
    if (canaries) world.canaries.emplace();
    const Report report = simulate(world);
    CHECK(report.violated == 0);
    for (const auto& violation : report.violations) MESSAGE(violation);
    if (canaries) {
      CHECK(report.leaves.killed >= 1);
      CHECK(report.leaves.killed <= 2);
      CHECK(report.measured.quarantined > 20);
    } else {
      CHECK(report.leaves.killed == 10);
      CHECK(report.measured.quarantined == 0);
    }
  }
}

TEST_CASE("leaves that a query took down come back, and answer again") {
  WorldSettings world = steady_world();
  world.queries = 3'000;
  world.restart_time = 500ms;
  world.shapes.front().weight = 0.996;
  QueryShape deadly = world.shapes.front();
  deadly.weight = 0.004;
  deadly.deadly = true;
  world.shapes.push_back(deadly);
  std::size_t whole_at_last = 0, told = 0;
  const Report report = simulate(world, [&](const QueryEnd& end) {
    if (++told <= 2'900 || !end.search) return;
    whole_at_last += end.search->finish_reason() == FinishReason::complete ? 1 : 0;
  });
  CHECK(report.violated == 0);
  CHECK(report.leaves.killed > 10);
  CHECK(whole_at_last > 40);
}

TEST_CASE("spelling that is there costs nothing, and spelling that is slow is waited for next to never") {
  WorldSettings world = steady_world();
  world.rate = 200;
  world.queries = 20'000;
  world.warm_up = 500;
  world.spellers = Spellers{2, ServiceTime::constant(1ms)};
  const Report healthy = simulate(world);
  CHECK(healthy.violated == 0);
  CHECK(with(healthy.measured, SubsystemStatus::ok) == 20'000);
  CHECK(healthy.measured.latency.max() == 6'000'000);

  world.spellers = Spellers{2, ServiceTime::constant(300ms)};
  const Report slow = simulate(world);
  CHECK(slow.violated == 0);
  CHECK(with(slow.measured, SubsystemStatus::ok) == 0);
  CHECK(with(slow.measured, SubsystemStatus::late) + with(slow.measured, SubsystemStatus::skipped) == 20'000);
  // At most 5 ms, and in vain for a quarter of a per cent, one in twenty seconds, and a burst of two.
  CHECK(slow.measured.latency.max() <= 11'000'000);
  CHECK(slow.measured.longer_than(6100us) <= 0.0025 + (0.05 * 100 + 2) / 20'000);
}

TEST_CASE("settings that make no sense are told before anything runs") {
  WorldSettings world = steady_world();
  CHECK(settings_error(world).empty());
  world.upkeep = {10ms, 10ms, Upkeep::Phase::aligned};
  CHECK_FALSE(settings_error(world).empty());
  world = steady_world();
  world.shapes.front().draws = 0;
  CHECK_FALSE(settings_error(world).empty());
  world = steady_world();
  world.spellers = Spellers{0, ServiceTime::constant(1ms)};
  CHECK_FALSE(settings_error(world).empty());
}

}  // namespace hedgerow::lab::simulation
