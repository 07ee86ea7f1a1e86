#include "leaf/background_schedule.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace hedgerow::leaf {

using namespace std::chrono_literals;

namespace {

constexpr Instant schedule_zero{};

// 100 ms at the begin of every second, a quarter of a second after the anchor.
BackgroundSchedule quarter_past() { return {schedule_zero, 1s, 100ms, 250ms}; }

}  // namespace

TEST_CASE("background work runs for its length at the begin of every period, before the anchor as well as after") {
  const auto schedule = quarter_past();
  struct Row {
    Duration at;
    bool active;
    Duration next;
  };
  const Row rows[] = {
      {0ms, false, 250ms},     {249ms, false, 250ms},    {250ms, true, 350ms},    {349ms, true, 350ms},
      {350ms, false, 1250ms},  {1250ms, true, 1350ms},   {-750ms, true, -650ms},  {-651ms, true, -650ms},
      {-650ms, false, 250ms},  {-751ms, false, -750ms},  {1h, false, 1h + 250ms}, {1h + 300ms, true, 1h + 350ms},
      {-1h + 251ms, true, -1h + 350ms},
  };
  for (const Row& row : rows) {
    CAPTURE(to_milliseconds(row.at));
    CHECK(schedule.is_active(schedule_zero + row.at) == row.active);
    CHECK(schedule.next_change(schedule_zero + row.at) == schedule_zero + row.next);
  }
}

TEST_CASE("from change to change one comes by every run, and nothing else") {
  const auto schedule = quarter_past();
  Instant at = schedule_zero;
  for (int run = 0; run < 50; ++run) {
    at = schedule.next_change(at);
    CHECK(schedule.is_active(at));
    CHECK(at == schedule_zero + 250ms + run * 1s);
    at = schedule.next_change(at);
    CHECK_FALSE(schedule.is_active(at));
    CHECK(at == schedule_zero + 350ms + run * 1s);
  }
}

TEST_CASE("the time that runs take of a span is what a walk over its milliseconds counts") {
  const auto schedule = quarter_past();
  for (const auto& [from, to] : std::vector<std::pair<Duration, Duration>>{
           {0ms, 0ms}, {0ms, 250ms}, {0ms, 300ms}, {260ms, 270ms}, {300ms, 5300ms}, {-3s, 3s}, {-2700ms, -1701ms}, {349ms, 1251ms}}) {
    CAPTURE(to_milliseconds(from));
    CAPTURE(to_milliseconds(to));
    Duration walked{};
    for (Duration at = from; at < to; at += 1ms) walked += schedule.is_active(schedule_zero + at) ? 1ms : 0ms;
    CHECK(schedule.active_between(schedule_zero + from, schedule_zero + to) == walked);
  }
}

TEST_CASE("leaves that agree on Unix time are aligned, whatever their own clocks have counted from") {
  const Duration unix_time = std::chrono::seconds(1'796'000'000) + 123ms;
  const Instant one_clock = schedule_zero + 5h, other_clock = schedule_zero + 17 * 24h + 1ms;
  const BackgroundSchedule one{unix_epoch(one_clock, unix_time), 2s, 100ms, 0ms};
  const BackgroundSchedule other{unix_epoch(other_clock, unix_time), 2s, 100ms, 0ms};
  CHECK(one.next_change(one_clock) - one_clock == other.next_change(other_clock) - other_clock);
  // 1,796,000,000 is even: a run began 123 ms ago, and the next one comes in 1,877 ms.
  CHECK(one.next_change(one_clock) - one_clock == 1877ms);
}

TEST_CASE("staggered leaves share the period evenly by number, and are spread over it by name") {
  CHECK(staggered_phase(2s, 0, 4) == 0ms);
  CHECK(staggered_phase(2s, 1, 4) == 500ms);
  CHECK(staggered_phase(2s, 3, 4) == 1500ms);

  std::vector<int> quarters(4);
  for (int i = 0; i < 400; ++i) {
    const Duration phase = staggered_phase(2s, "leaf-" + std::to_string(i));
    REQUIRE(phase >= 0ms);
    REQUIRE(phase < 2s);
    ++quarters[static_cast<std::size_t>(phase / 500ms)];
  }
  // 100 expected in each, with a standard deviation of 8.7.
  CHECK(*std::min_element(quarters.begin(), quarters.end()) > 65);
  CHECK(*std::max_element(quarters.begin(), quarters.end()) < 135);
  CHECK(staggered_phase(2s, "leaf-3") == staggered_phase(2s, "leaf-3"));
}

}  // namespace hedgerow::leaf
