// The simulated world does what queueing theory and arithmetic say: that is why what it says of policies can be believed.

#include "lab/simulation/simulation.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace hedgerow::lab::simulation {

using namespace std::chrono_literals;

namespace {

WorldSettings one_leaf() {
  WorldSettings world;
  world.leaves = world.partitions = world.replicas = 1;
  world.workers = 1;
  world.queue_capacity = 1'000'000;
  world.shapes.front().deadline = 1h;
  world.shapes.front().hedge.mode = policy::HedgeChoice::Mode::off;
  world.queries = 400'000;
  world.warm_up = 20'000;
  return world;
}

double mean_ms(const Report& report) { return report.measured.latency.mean() / 1e6; }

}  // namespace

TEST_CASE("one leaf of one worker is the queue M/M/1: the mean time is that of the service over the idle share") {
  WorldSettings world = one_leaf();
  world.service = *ServiceTime::parse("exponential:10ms");
  world.rate = 70;  // utilisation 0.7
  const Report report = simulate(world);
  CHECK(report.violated == 0);
  CHECK(mean_ms(report) == doctest::Approx(10 / 0.3).epsilon(0.05));
  // The time in the system is exponential: its p99 is ln 100 times the mean.
  CHECK(report.measured.quantile_ms(0.99) == doctest::Approx(std::log(100) * 10 / 0.3).epsilon(0.07));
}

TEST_CASE("with constant service the wait is half of that (Pollaczek and Khinchine)") {
  WorldSettings world = one_leaf();
  world.service = ServiceTime::constant(10ms);
  world.rate = 70;
  CHECK(mean_ms(simulate(world)) == doctest::Approx(10 + 0.7 * 10 / (2 * 0.3)).epsilon(0.03));
}

TEST_CASE("two workers are the queue M/M/2 (Erlang's formula)") {
  WorldSettings world = one_leaf();
  world.workers = 2;
  world.service = *ServiceTime::parse("exponential:10ms");
  world.rate = 140;
  // With load a = 1.4 over two: the share that waits is C = (a^2/2) / ((1 - a/2)(1 + a) + a^2/2), for 10 ms / (2 - a) each.
  const double a = 1.4, waits = a * a / 2 / ((1 - a / 2) * (1 + a) + a * a / 2);
  CHECK(mean_ms(simulate(world)) == doctest::Approx(10 + waits * 10 / (2 - a)).epsilon(0.04));
}

TEST_CASE("other work on the leaf takes its share of the worker") {
  WorldSettings world = one_leaf();
  world.service = *ServiceTime::parse("exponential:10ms");
  world.rate = 20;
  world.background = {50, world.service, ServiceClass::interactive, 1h};
  CHECK(mean_ms(simulate(world)) == doctest::Approx(10 / 0.3).epsilon(0.06));
}

TEST_CASE("the network's time is paid there and back, and nothing overtakes on a link") {
  WorldSettings world = one_leaf();
  world.workers = 0;
  world.queries = 1000;
  world.service = ServiceTime::constant(4ms);
  world.network = ServiceTime::constant(3ms);
  const Report report = simulate(world);
  CHECK(report.measured.latency.min() == 10'000'000);
  CHECK(report.measured.latency.max() == 10'000'000);
}

TEST_CASE("a fan-out takes as long as its slowest partition") {
  WorldSettings world;
  world.leaves = world.partitions = 50;
  world.replicas = 1;
  world.workers = 0;
  world.network = ServiceTime::constant(0ms);
  world.service = *ServiceTime::parse("exponential:10ms");
  world.shapes.front().deadline = 1h;
  world.queries = 20'000;
  const Report report = simulate(world);
  // Of the largest of 50, Pr(<= t) = (1 - e^(-t/10))^50.
  const auto quantile = [](double share) { return -10 * std::log(1 - std::pow(share, 1.0 / 50)); };
  CHECK(report.measured.quantile_ms(0.5) == doctest::Approx(quantile(0.5)).epsilon(0.02));
  CHECK(report.measured.quantile_ms(0.99) == doctest::Approx(quantile(0.99)).epsilon(0.04));
  CHECK(report.measured.completeness() == 1);
}

TEST_CASE("at the deadline a query is answered with what has come") {
  WorldSettings world;
  world.leaves = world.partitions = 10;
  world.replicas = 1;
  world.workers = 0;
  world.network = ServiceTime::constant(0ms);
  world.service = *ServiceTime::parse("uniform:0ms..100ms");
  world.shapes.front().deadline = 80ms;
  world.queries = 5'000;
  const Report report = simulate(world);
  CHECK(report.measured.latency.max() == 80'000'000);
  CHECK(report.measured.completeness() == doctest::Approx(0.8).epsilon(0.01));
  const auto complete = static_cast<double>(report.measured.finished[static_cast<std::size_t>(policy::FinishReason::complete)]);
  CHECK(complete / 5'000 == doctest::Approx(std::pow(0.8, 10)).epsilon(0.1));
}

TEST_CASE("what is frozen goes on where it was, and what waits on a leaf that dies is asked elsewhere at once") {
  WorldSettings world;
  world.leaves = 2;
  world.partitions = 1;
  world.replicas = 2;
  world.workers = 1;
  world.service = ServiceTime::constant(5ms);
  world.network = ServiceTime::constant(100us);
  world.rate = 50;
  world.queries = 500;
  world.shapes.front().hedge.mode = policy::HedgeChoice::Mode::off;
  world.shapes.front().deadline = 10s;

  SUBCASE("both frozen: everything comes, up to a second late") {
    world.faults = {{.kind = FaultKind::freeze, .from = 2s, .until = 3s}};
    const Report report = simulate(world);
    CHECK(report.measured.completeness() == 1);
    CHECK(report.measured.latency.max() > 900'000'000);
    CHECK(report.measured.latency.max() < 1'300'000'000);
    CHECK(report.violated == 0);
  }
  SUBCASE("one dies: nothing is lost, and nothing waits for it") {
    world.faults = {{.kind = FaultKind::crash, .leaf = LeafId{0}, .from = 2s, .until = 6s}};
    const Report report = simulate(world);
    CHECK(report.measured.completeness() == 1);
    CHECK(report.measured.latency.max() < 100'000'000);
    CHECK(report.measured.attempts[static_cast<std::size_t>(AttemptKind::retry)] < 10);
    CHECK(report.violated == 0);
  }
}

}  // namespace hedgerow::lab::simulation
