// Waiting at a higher load from samples at a lower one: against closed forms of M/M/1, M/D/1 and M/M/2, and against the
// exact solution of Pollaczek and Khinchine for service times that are not exponential.
#include "lab/advise/load_model.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cmath>

#include "lab/experiments/single_server_queue.hpp"
#include "samples_of.hpp"

namespace hedgerow::lab {

using namespace std::chrono_literals;

namespace {

AttemptTail exponential(double mean_ms) {
  return AttemptTail(exact_samples(200'000, [&](double share) { return from_milliseconds(-mean_ms * std::log1p(-share)); }), {});
}

double milliseconds_at(const policy::LatencyCurve& curve, double share) { return to_milliseconds(*curve.quantile(share)); }

}  // namespace

TEST_CASE("the chance of a wait is Erlang's C") {
  CHECK(chance_of_waiting(1, 0) == 0);
  CHECK(chance_of_waiting(1, 0.7) == doctest::Approx(0.7));
  CHECK(chance_of_waiting(2, 0.5) == doctest::Approx(1.0 / 3));  // 2 rho^2 / (1 + rho)
  CHECK(chance_of_waiting(3, 2.0 / 3) == doctest::Approx(4.0 / 9));
}

TEST_CASE("M/M/1: from latencies at one load, work and waiting there, and the latencies at another") {
  // Work of 10 ms: latencies are exponential with 10 / (1 - rho).
  for (const double load : {0.1, 0.5, 0.8}) {
    CAPTURE(load);
    const LoadModel model(exponential(10 / (1 - load)), load, 1);
    CHECK(to_milliseconds(model.mean_service()) == doctest::Approx(10).epsilon(0.005));
    CHECK(to_milliseconds(model.mean_residual()) == doctest::Approx(10).epsilon(0.02));
    CHECK(to_milliseconds(model.mean_wait(load)) == doctest::Approx(10 * load / (1 - load)).epsilon(0.02));
    const auto at_90 = model.attempts_at(0.9);
    for (const double t : {20.0, 100.0, 400.0}) {
      CAPTURE(t);
      CHECK(at_90.unanswered_after(from_milliseconds(t)) == doctest::Approx(std::exp(-t / 100)).epsilon(0.02));
    }
  }
}

TEST_CASE("at its own load nothing is added") {
  const LoadModel model(exponential(20), 0.5, 1);
  const auto same = model.attempts_at(0.5);
  CHECK(same.steps.size() == model.measured().steps.size());
  CHECK(milliseconds_at(same, 0.99) == milliseconds_at(model.measured(), 0.99));
}

TEST_CASE("samples of idle servers are work: M/D/1 and M/M/2") {
  const AttemptTail constant(single_samples({{10ms, 10'000}}), {});
  const LoadModel single(constant, 0, 1);
  CHECK(single.mean_service() == 10ms);
  CHECK(single.mean_residual() == 5ms);
  CHECK(to_milliseconds(single.mean_wait(0.5)) == doctest::Approx(5));   // rho / (2 (1 - rho)) of the work
  CHECK(to_milliseconds(single.mean_wait(0.8)) == doctest::Approx(20));

  const LoadModel two(exponential(10), 0, 2);
  CHECK(to_milliseconds(two.mean_wait(0.5)) == doctest::Approx(10.0 / 3).epsilon(0.01));  // rho^2 / (1 - rho^2) of it
  // Half of the waits at two workers: those of half the work.
  const auto curve = two.attempts_at(0.5);
  // Pr(W + X > t) for W = 0 with 2/3, else exponential with 10 ms: the sum of two exponentials of 10 ms.
  for (const double t : {10.0, 30.0, 60.0}) {
    CHECK(curve.unanswered_after(from_milliseconds(t)) == doctest::Approx(std::exp(-t / 10) * (1 + t / 30)).epsilon(0.02));
  }
}

TEST_CASE("a load that hardly differs from idle is no other model") {
  const LoadModel idle(exponential(10), 0, 1), nearly(exponential(10), 0.002, 1);
  CHECK(to_milliseconds(nearly.mean_service()) == doctest::Approx(to_milliseconds(idle.mean_service())).epsilon(0.01));
  CHECK(to_milliseconds(nearly.mean_residual()) == doctest::Approx(to_milliseconds(idle.mean_residual())).epsilon(0.05));
}

TEST_CASE("work that is not exponential: the exact queue, at a higher load than was measured") {
  // E[R] = E[G^2] / 2 E[G] = (100 + 100 / 12) / 20 = 5.417 ms.
  const auto service = *simulation::ServiceTime::parse("uniform:5ms..15ms");
  const SingleServerQueue at_half(service, 0.5, 200ms), at_80(service, 0.8, 400ms);
  const AttemptTail tail(exact_samples(20'000, [&](double share) { return at_half.quantile(share).value_or(200ms); }), {});
  const LoadModel model(tail, 0.5, 1);
  CHECK(to_milliseconds(model.mean_service()) == doctest::Approx(10).epsilon(0.01));
  CHECK(to_milliseconds(model.mean_residual()) == doctest::Approx(5.417).epsilon(0.05));
  const auto predicted = model.attempts_at(0.8);
  for (const double share : {0.5, 0.9, 0.99}) {
    CAPTURE(share);
    CHECK(milliseconds_at(predicted, share) == doctest::Approx(to_milliseconds(*at_80.quantile(share))).epsilon(0.08));
  }
}

TEST_CASE("a further wait makes everything later, and more the higher the load") {
  const LoadModel model(exponential(20), 0.5, 1);
  policy::LatencyCurve before = model.measured();
  for (const double load : {0.6, 0.7, 0.9}) {
    const auto curve = model.attempts_at(load);
    double last = 1;
    for (const auto& step : curve.steps) {
      CHECK(step.unanswered <= last);
      last = step.unanswered;
    }
    for (const double t : {10.0, 50.0, 150.0}) CHECK(curve.unanswered_after(from_milliseconds(t)) > before.unanswered_after(from_milliseconds(t)));
    before = curve;
  }
}

}  // namespace hedgerow::lab
