// The limit of queries in flight, window by window.

#include "root/policy/cluster/concurrency_limit.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

// One limit through windows of 100 ms, in each of which the same happens.
struct Windows {
  explicit Windows(ConcurrencyLimitSettings settings = {}) : limit(settings) { limit.turn(load, at(0ms)); }

  // In each: at most so many in flight, this smallest queue time, and this mean wait (by default the same).
  std::size_t pass(int windows, std::size_t in_flight, Duration queue_time = {}, Duration wait = {}) {
    for (int i = 0; i < windows; ++i) {
      limit.on_in_flight(in_flight);
      load = {};
      load.on_waited(leaf(0), std::max(wait, queue_time), now + 99ms);
      load.on_answered(leaf(0), {.queue_time = queue_time}, now + 99ms);
      now += 100ms;
      limit.turn(load, now);
    }
    return limit.limit();
  }

  ClusterLoad load;
  ConcurrencyLimit limit;
  Instant now = at(0ms);
};

ConcurrencyLimitSettings starting_at(std::size_t first_answers) {
  ConcurrencyLimitSettings settings;
  settings.first = first_answers;
  return settings;
}

}  // namespace

TEST_CASE("the limit rises by one, or 3 %, for each window in which it is used and nothing is wrong") {
  Windows small(starting_at(10));
  CHECK(small.pass(1, 10) == 11);
  CHECK(small.pass(4, 14) == 15);
  Windows large(starting_at(200));
  CHECK(large.pass(1, 200) == 206);
}

TEST_CASE("the limit stays where it is while less than half of it is used") {
  Windows windows(starting_at(32));
  CHECK(windows.pass(50, 16) == 32);
}

TEST_CASE("a standing queue on most leaves lowers the limit to 0.7 of what was in flight, and to no less than the least") {
  Windows windows(starting_at(32));
  // 250 ms are usual at first: a twentieth is 12.5 ms.
  CHECK(windows.limit.queue_target() == 12500us);
  CHECK(windows.pass(1, 20, 12ms) == 33);
  CHECK(windows.limit.sign() == OverloadSign::none);
  CHECK(windows.pass(1, 20, 13ms) == 14);
  CHECK(windows.limit.sign() == OverloadSign::leaf_queues);
  windows.pass(1, 14, 13ms);  // what was decided has taken effect: it counts again
  CHECK(windows.limit.limit() == 9);
  for (int i = 0; i < 20; ++i) windows.pass(1, windows.limit.limit(), 40ms);
  CHECK(windows.limit.limit() == 4);
}

TEST_CASE("while more are in flight than the lowered limit, it is not lowered again") {
  Windows windows(starting_at(100));
  CHECK(windows.pass(1, 100, 40ms) == 70);
  CHECK(windows.pass(5, 90, 40ms) == 70);
  windows.limit.on_in_flight(60);
  CHECK(windows.pass(1, 60, 40ms) < 70);
}

TEST_CASE("trap 11, trap 15: overload that does not come from what is in flight leaves the limit alone") {
  Windows windows(starting_at(32));
  CHECK(windows.pass(20, 5, 40ms) == 32);
}

TEST_CASE("what counts as a queue follows the time that queries have, between 5 and 50 ms") {
  for (const auto& [given, target] : std::vector<std::pair<Duration, Duration>>{{50ms, 5ms}, {200ms, 10ms}, {600ms, 30ms}, {20s, 50ms}}) {
    CAPTURE(to_milliseconds(given));
    ConcurrencyLimit limit({});
    for (int i = 0; i < 1000; ++i) limit.on_ended(given, false, 1);
    CHECK(to_milliseconds(limit.queue_target()) == doctest::Approx(to_milliseconds(target)).epsilon(0.001));
  }
}

TEST_CASE("attempts that wait long on average, though some do not wait at all, are overload too") {
  Windows windows(starting_at(32));
  CHECK(windows.limit.wait_target() == 50ms);
  windows.pass(1, 20, 0ms, 49ms);
  CHECK(windows.limit.sign() == OverloadSign::none);
  windows.pass(1, 20, 0ms, 51ms);
  CHECK(windows.limit.sign() == OverloadSign::long_waits);
  CHECK(windows.limit.limit() == 14);
}

TEST_CASE("a root that lags behind its events is overloaded") {
  Windows windows(starting_at(32));
  for (const auto lag : {2ms, 30ms, 3ms}) windows.limit.on_lag(lag);  // mean 11.7 ms
  CHECK(windows.pass(1, 20) == 14);
  CHECK(windows.limit.sign() == OverloadSign::root_lag);
  for (const auto lag : {2ms, 20ms, 3ms}) windows.limit.on_lag(lag);
  windows.pass(1, 10);
  CHECK(windows.limit.sign() == OverloadSign::none);
}

TEST_CASE("queries that end at their deadline are a sign of overload only where most lack more than half of their partitions") {
  struct Row {
    const char* what;
    int whole, short_of_one, hollow;
    OverloadSign sign;
  };
  for (const Row& row : {Row{"a leaf hangs: each lacks its share", 0, 100, 0, OverloadSign::none},
                         Row{"some are hollow", 60, 0, 50, OverloadSign::none},
                         Row{"most are hollow", 40, 0, 50, OverloadSign::hollow_answers},
                         Row{"too few to say", 0, 0, 3, OverloadSign::none}}) {
    CAPTURE(row.what);
    Windows windows(starting_at(32));
    for (int i = 0; i < row.whole; ++i) windows.limit.on_ended(250ms, false, 1);
    for (int i = 0; i < row.short_of_one; ++i) windows.limit.on_ended(250ms, true, 0.75);
    for (int i = 0; i < row.hollow; ++i) windows.limit.on_ended(250ms, true, 0.25);
    windows.pass(1, 20);
    CHECK(windows.limit.sign() == row.sign);
  }
}

TEST_CASE("after three seconds without a sign a limit that is used rises by a tenth for each window") {
  Windows windows(starting_at(4));
  CHECK(windows.pass(30, 40) == 34);
  CHECK(windows.pass(1, 60) == 37);
  CHECK(windows.pass(100, 2000) == 1024);
}

TEST_CASE("a limit that was needed once is forgotten, down to the first") {
  Windows windows(starting_at(32));
  CHECK(windows.pass(100, 2000) == 1024);
  CHECK(windows.pass(10, 10) < 800);
  CHECK(windows.pass(200, 10) == 32);
}

TEST_CASE("a fixed limit is the most, whatever happens") {
  ConcurrencyLimitSettings settings;
  settings.adaptive = false;
  settings.most = 70;
  Windows windows(settings);
  CHECK(windows.pass(10, 70, 100ms) == 70);
}

}  // namespace hedgerow::policy
