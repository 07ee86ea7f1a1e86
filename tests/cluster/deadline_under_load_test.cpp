// The deadline holds for (nearly) every answer of a busy cluster whose leaves misbehave at random.
// scripts/check-deadline-under-load is the long version.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <map>

#include "base/histogram.hpp"
#include "cluster_fixture.hpp"
#include "control_timer.hpp"
#include "load_run.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration deadline = 100ms, beyond = 10ms;

lab::LoadSettings queries_of_a_hundred_words() {
  lab::LoadSettings settings;
  for (std::uint64_t i = 0; i < 100; ++i) settings.queries.push_back(synthetic_query(i));
  settings.parameters = {{"deadline", "100ms"}, {"spelling", "off"}, {"snippets", "off"}};
  return settings;
}

// All but crashes and garbage, which end links, and with them other queries' work: each of them now and then, on every leaf.
nlohmann::json random_faults() {
  const nlohmann::json searches{"search"};
  return {{{"kind", "late"}, {"delay", "pareto:2ms,1.2,cap=1s"}, {"probability", 0.02}},
          {{"kind", "hold"}, {"delay", "lognormal:3ms,1"}, {"probability", 0.005}, {"work", searches}},
          {{"kind", "error"}, {"probability", 0.002}},
          {{"kind", "refused"}, {"probability", 0.002}},
          {{"kind", "black_hole"}, {"probability", 0.002}},
          {{"kind", "background"}, {"length", "20ms"}, {"period", "1s"}, {"phase", "staggered"}}};
}

// By the root's clock.
struct Overruns {
  std::uint64_t answers = 0, beyond = 0, unexplained = 0;
  Histogram took{60'000'000'000};  // ns
  std::map<int, std::uint64_t> statuses;
};

Overruns ask(const std::string& address, lab::LoadSettings settings, const ControlTimer& timer) {
  settings.target = "http://" + address;
  Overruns out;
  boost::asio::io_context context(1);
  lab::Load load(context, std::move(settings));
  load.observe([&](const lab::LoadOutcome& outcome) {
    ++out.statuses[outcome.status.value_or(0)];
    if (!outcome.took_ms) return;
    ++out.answers;
    const Duration took(static_cast<Duration::rep>(*outcome.took_ms * 1e6));
    out.took.record(static_cast<std::uint64_t>(took.count()));
    if (took <= deadline + beyond) return;
    ++out.beyond;
    // The machine held a thread up that had nothing else to do; the root has three waits a query, each may be hit.
    const Instant now = clock_now();
    const Duration machine_late = timer.worst_lateness(now - outcome.latency, now);
    const bool explained = took <= deadline + beyond + 3 * machine_late;
    if (!explained) ++out.unexplained;
    MESSAGE("an answer took ", to_milliseconds(took), " ms; the control timer was late by ", to_milliseconds(machine_late),
            " ms meanwhile");
  });
  boost::asio::co_spawn(context, load.run(), [](std::exception_ptr problem, result<lab::LoadResult> end) {
    if (problem) std::rethrow_exception(problem);
    REQUIRE(end.has_value());
  });
  context.run();
  return out;
}

}  // namespace

TEST_CASE("at four fifths of the load that it can bear, with faults at random, a cluster's answers end at their deadline") {
  const std::size_t answers = count_from_environment("HEDGEROW_ANSWERS", 4000);
  TestCluster cluster({.replicas = 2, .allow_faults = true});

  auto closed = queries_of_a_hundred_words();
  closed.clients = 8;
  closed.count = 3000;
  const auto bearable = run_load(cluster.root_address(), closed);
  REQUIRE(bearable.complete == closed.count);
  const double rate = 0.8 * static_cast<double>(bearable.complete) / bearable.seconds;

  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, random_faults());
  auto open = queries_of_a_hundred_words();
  open.rate = rate;
  open.duration = Duration(static_cast<Duration::rep>(static_cast<double>(answers) / rate * 1e9));
  const ControlTimer timer;
  const Overruns seen = ask(cluster.root_address(), open, timer);

  std::string statuses;
  for (const auto& [status, count] : seen.statuses) statuses += " " + std::to_string(status) + ": " + std::to_string(count);
  const auto lateness = timer.lateness();
  const auto milliseconds = [&](double share) { return static_cast<double>(seen.took.value_at_quantile(share)) / 1e6; };
  MESSAGE(seen.answers, " answers at ", rate, " a second, deadline=100ms, statuses", statuses, "; took_ms p50 ", milliseconds(0.5), ", p99 ",
          milliseconds(0.99), ", p99.99 ", milliseconds(0.9999), ", max ", milliseconds(1), "; ", seen.beyond,
          " beyond 110 ms, ", seen.unexplained, " of them unexplained; control timer late p99.99 ",
          to_milliseconds(quantile(lateness, 0.9999)), " ms, max ", to_milliseconds(lateness.back()), " ms");
  // Refusals for load (503) tell no time. Poisson: the number of queries is one in a thousand off at most in a long run.
  CHECK(static_cast<double>(seen.answers) > 0.9 * static_cast<double>(answers));
  // A busy root waits longer for a processor than a thread that only sleeps: of a million answers, five, all of one instant,
  // came 21 ms late while the timer was 2.8 ms late.
  CHECK(seen.unexplained * 100'000 <= seen.answers);
  // With fewer a single one would be more than that.
  if (answers >= 100'000) CHECK(seen.beyond * 10'000 <= seen.answers);
}
