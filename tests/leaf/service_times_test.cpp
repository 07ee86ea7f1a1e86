#include "leaf/service_times.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "leaf/work_queue.hpp"

#include "instants.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

ServiceTimes times_of(const std::vector<Duration>& took, bool stopped = false) {
  ServiceTimes times;
  for (const auto each : took) times.add(each, stopped, at(0ms));
  return times;
}

std::vector<Duration> repeated(std::vector<Duration> values, std::size_t count) {
  std::vector<Duration> all;
  while (all.size() < count) all.insert(all.end(), values.begin(), values.end());
  return all;
}

}  // namespace

TEST_CASE("the mean is that of the latest, and a millisecond before there are any") {
  ServiceTimes times;
  CHECK(times.mean() == 1ms);
  times.add(4ms, false, at(0ms));
  CHECK(times.mean() == 4ms);
  times.add(8ms, true, at(0ms));
  CHECK(times.mean() == 6ms);
  for (std::size_t i = 0; i < ServiceTimes::kept; ++i) times.add(3ms, false, at(0ms));
  CHECK(times.mean() == 3ms);
}

TEST_CASE("too little time is what the formula says, for distributions that can be worked out by hand") {
  // All of 5 ms: y(5 ms) = 1 / 5, and nothing less ever ends.
  CHECK(times_of(repeated({5ms}, 64)).least_time(at(0ms)) == 5ms);
  // Half 1 ms, half 9 ms: y(1) = 0.5 / 1, y(9) = 1 / 5. The short are worth the shortest time.
  CHECK(times_of(repeated({1ms, 9ms}, 64)).least_time(at(0ms)) == 1ms);
  // One of four 4 ms, three 5 ms: y(4) = 0.25 / 4 = 0.0625, y(5) = 1 / 4.75 = 0.21. 4 ms are too little.
  CHECK(times_of(repeated({4ms, 5ms, 5ms, 5ms}, 64)).least_time(at(0ms)) == 5ms);
  // Three of four 4 ms: y(4) = 0.75 / 4 = 0.19, y(5) = 1 / 4.25 = 0.235, of which 0.7 is 0.165. 4 ms do.
  CHECK(times_of(repeated({4ms, 4ms, 4ms, 5ms}, 64)).least_time(at(0ms)) == 4ms);
}

TEST_CASE("work without memory is worth any time: nothing of it is let go beyond its shortest") {
  // Exponential times: y(r) = 1 / mean for every r. Quantiles in the place of chance.
  std::vector<Duration> took;
  for (int i = 0; i < 64; ++i) took.push_back(from_milliseconds(-5 * std::log(1 - (i + 0.5) / 64)));
  CHECK(times_of(took).least_time(at(0ms)) <= took[2]);
}

TEST_CASE("what was stopped took at least so long: it does not make the work look short") {
  ServiceTimes times;
  // Half of 6 ms and whole, half stopped at 2 ms. The stopped ones are none that took 2 ms.
  for (int i = 0; i < 32; ++i) {
    times.add(6ms, false, at(0ms));
    times.add(2ms, true, at(0ms));
  }
  CHECK(times.least_time(at(0ms)) == 6ms);
  CHECK(times_of(repeated({2ms}, 64), true).least_time(at(0ms)) == 0ms);  // none has ended: nothing is known
}

TEST_CASE("nothing is too little before enough is known, nor when what is known is old") {
  ServiceTimes times;
  for (std::size_t i = 0; i + 1 < ServiceTimes::least; ++i) times.add(5ms, false, at(0ms));
  CHECK(times.least_time(at(0ms)) == 0ms);
  times.add(5ms, false, at(0ms));
  CHECK(times.least_time(at(0ms)) == 5ms);
  CHECK(times.least_time(at(ServiceTimes::fresh)) == 5ms);
  CHECK(times.least_time(at(ServiceTimes::fresh + 1ms)) == 0ms);
  times.add(4ms, false, at(ServiceTimes::fresh + 1ms));
  CHECK(times.least_time(at(ServiceTimes::fresh + 1ms)) > 0ms);
}

TEST_CASE("every so-many-th piece is tried all the same, so that what became faster is seen to be") {
  auto times = times_of(repeated({5ms}, 64));
  int tried = 0;
  for (int i = 0; i < 160; ++i) tried += times.too_little(1ms, at(0ms)) ? 0 : 1;
  CHECK(tried == 160 / static_cast<int>(ServiceTimes::trial));
  for (int i = 0; i < 100; ++i) CHECK_FALSE(times.too_little(5ms, at(0ms)));
  // Those tried end within 1 ms: soon 1 ms is enough.
  int asked = 0;
  while (times.too_little(1ms, at(0ms)) || times.least_time(at(0ms)) > 1ms) {
    if (++asked % 16 == 0) times.add(1ms, false, at(0ms));
    REQUIRE(asked < 16 * 64);
  }
}

namespace {

// One worker in virtual time, open arrivals, every piece with 50 ms: the share of the worker's capacity that ends in time.
double goodput(double load, bool let_go, const std::function<Duration(Random&)>& service_time) {
  Random random(3);
  Random probe(4);
  double mean_ms = 0;
  for (int i = 0; i < 20'000; ++i) mean_ms += to_milliseconds(service_time(probe)) / 20'000;

  const LaneLimits lane{.waiting = 1'000, .running = 1};
  WorkQueue<Duration> queue({.interactive = {lane, lane}, .batch = {lane, lane}});
  ServiceTimes times;
  const Duration end = 60s;
  Duration next_arrival{}, now{};
  int in_time = 0;
  while (now < end) {
    for (; next_arrival <= now; next_arrival += from_milliseconds(-std::log(1 - random.uniform()) * mean_ms / load)) {
      queue.push(service_time(random), {WorkKind::search, ServiceClass::interactive, at(next_arrival + 50ms), {}}, at(next_arrival));
    }
    const auto popped = queue.pop(ServiceClass::interactive, at(now));
    if (!popped) {
      now = next_arrival;
      continue;
    }
    queue.finish(popped->kind, popped->service_class);
    const Duration left = popped->deadline - at(now);
    if (popped->expired) continue;
    if (let_go && queue.waiting(ServiceClass::interactive) > 0 && times.too_little(left, at(now))) continue;
    const bool stopped = popped->work > left;
    now += std::min(popped->work, left);
    times.add(std::min(popped->work, left), stopped, at(now));
    in_time += stopped ? 0 : 1;
  }
  return in_time * mean_ms / to_milliseconds(end);
}

Duration constant(Random&) { return 5ms; }
Duration even(Random& random) { return from_milliseconds(1 + 8 * random.uniform()); }
Duration exponential(Random& random) { return from_milliseconds(-5 * std::log(1 - random.uniform())); }
Duration mixed(Random& random) { return random.chance(0.9) ? from_milliseconds(1 + random.uniform()) : 30ms; }

}  // namespace

TEST_CASE("in an overload the earliest deadline first spends the workers on what ends too late, and they are well used where work "
          "with too little time is let go") {
  struct Row {
    std::string name;
    Duration (*service_time)(Random&);
    double at_most_without, at_least_with;
  };
  // More than the capacity is possible where short work ends and long work is stopped.
  for (const double load : {1.5, 3.0}) {
    for (const Row& row : {Row{"constant", constant, 0.7, 0.85}, Row{"even", even, 0.85, 0.7},
                           Row{"exponential", exponential, 2, 0.9}, Row{"mixed", mixed, 3, 1.1}}) {
      CAPTURE(row.name);
      CAPTURE(load);
      const double without = goodput(load, false, row.service_time), with = goodput(load, true, row.service_time);
      MESSAGE(row.name << " at " << load << ": " << without << " without, " << with << " with");
      CHECK(without <= row.at_most_without);
      CHECK(with >= row.at_least_with);
      CHECK(with >= without - 0.03);
    }
  }
}

TEST_CASE("without an overload next to nothing is let go that would have ended") {
  for (const auto service_time : {constant, even, exponential, mixed}) {
    const double without = goodput(0.7, false, service_time), with = goodput(0.7, true, service_time);
    CHECK(with >= without - 0.005);
  }
}

}  // namespace hedgerow::leaf
