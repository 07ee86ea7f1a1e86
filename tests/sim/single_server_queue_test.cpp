#include "lab/experiments/single_server_queue.hpp"

#include <cmath>
#include <doctest/doctest.h>

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace std::chrono_literals;

namespace {

simulation::ServiceTime service(const char* text) { return *simulation::ServiceTime::parse(text); }

// Pr(waiting > t), t in service times, where service is constant: Erlang, 1909.
double constant_service_wait_longer(double utilisation, double t) {
  double sum = 0, factorial = 1;
  for (int k = 0; k <= static_cast<int>(t); ++k) {
    if (k > 0) factorial *= k;
    const double x = utilisation * (k - t);
    sum += std::pow(x, k) / factorial * std::exp(-x);
  }
  return 1 - (1 - utilisation) * sum;
}

}  // namespace

TEST_CASE("with exponential service the time from arrival to the end is exponential, of mean service / (1 - utilisation)") {
  for (const double utilisation : {0.1, 0.5, 0.75}) {
    const SingleServerQueue queue(service("exponential:10ms"), utilisation, 400ms);
    for (const double share : {0.5, 0.9, 0.99, 0.999}) {
      CAPTURE(utilisation);
      CAPTURE(share);
      const double expected = 10 / (1 - utilisation) * -std::log(1 - share);
      REQUIRE(queue.quantile(share));
      CHECK(std::abs(to_milliseconds(*queue.quantile(share)) / expected - 1) < 0.001);
    }
  }
}

TEST_CASE("with constant service waiting is as Erlang found in 1909") {
  for (const double utilisation : {0.3, 0.6}) {
    const SingleServerQueue queue(service("constant:10ms"), utilisation, 200ms);
    for (const double share : {0.8, 0.9, 0.99, 0.999}) {
      CAPTURE(utilisation);
      CAPTURE(share);
      REQUIRE(queue.quantile(share));
      const double wait = to_milliseconds(*queue.quantile(share)) / 10 - 1;
      CHECK(std::abs(constant_service_wait_longer(utilisation, wait) / (1 - share) - 1) < 0.015);
    }
  }
}

TEST_CASE("without other work everything takes its service time") {
  const auto alone = service("erlang:10ms,4");
  const SingleServerQueue queue(alone, 0, 200ms);
  for (const double share : {0.5, 0.9, 0.99}) {
    REQUIRE(queue.quantile(share));
    CHECK(std::abs(alone.longer_than(*queue.quantile(share)) / (1 - share) - 1) < 0.01);
  }
}

TEST_CASE("what lies beyond the horizon is not known") {
  const SingleServerQueue queue(service("exponential:10ms"), 0.5, 50ms);
  CHECK(queue.quantile(0.5));
  CHECK_FALSE(queue.quantile(0.999));  // 138 ms
}
