#include "leaf/transit_clock.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "base/random.hpp"

#include "instants.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

// Two machines: the leaf's clock is the test's, the root's is this much ahead of it.
constexpr std::int64_t ahead = 123'456'789'012'345;

std::int64_t root_clock(Duration since_start) { return at(since_start).time_since_epoch().count() + ahead; }

}  // namespace

TEST_CASE("the usual time on the way is charged to nobody, what exceeds it is") {
  TransitClock clock;
  CHECK(clock.excess(root_clock(0ms), at(1ms)) == 0ms);
  CHECK(clock.excess(root_clock(10ms), at(11ms)) == 0ms);
  CHECK(clock.excess(root_clock(20ms), at(25ms)) == 4ms);
  CHECK(clock.excess(root_clock(30ms), at(31ms)) == 0ms);
  // A quicker message than ever is the new measure.
  CHECK(clock.excess(root_clock(40ms), at(40ms)) == 0ms);
  CHECK(clock.excess(root_clock(50ms), at(51ms)) == 1ms);
}

TEST_CASE("what a stopped process finds when it goes on has its whole delay charged") {
  for (const Duration stop : {200ms, 10'000ms, 45'000ms, 90'000ms, 3'600'000ms}) {
    CAPTURE(format_duration(stop));
    TransitClock clock(30s);
    for (int i = 0; i < 50; ++i) clock.excess(root_clock(1ms * i), at(1ms * i + 100us));
    // Sent all the while, read at once at the end.
    for (int i = 1; i <= 20; ++i) {
      const Duration sent = 50ms + stop / 20 * (i - 1);
      CHECK(clock.excess(root_clock(sent), at(50ms + stop + 100us)) == 50ms + stop - sent);
    }
    CHECK(clock.excess(root_clock(60ms + stop), at(60ms + stop + 100us)) == 0ms);
  }
}

TEST_CASE("clocks that drift apart for hours are not charged as delay") {
  for (const double drift : {-200e-6, 200e-6}) {  // 200 parts in a million: a poor quartz
    CAPTURE(drift);
    Random random(5);
    TransitClock clock(30s);
    Duration worst{};
    for (Duration now{}; now < 6h; now += 500ms) {
      const Duration way = 100us + from_milliseconds(random.uniform() * 0.1);
      const auto drifted = Duration{static_cast<Duration::rep>(static_cast<double>(now.count()) * drift)};
      worst = std::max(worst, clock.excess(root_clock(now + drifted), at(now + way)));
    }
    // In two windows the drift makes 12 ms; over the whole time it makes 4.3 s.
    CHECK(worst < 13ms);
  }
}

TEST_CASE("windows without a message change nothing") {
  TransitClock clock(30s);
  clock.excess(root_clock(0s), at(1ms));
  // After many windows of silence the old measure still stands for one more.
  CHECK(clock.excess(root_clock(600s), at(605s)) == 4999ms);
  CHECK(clock.excess(root_clock(610s), at(610s + 1ms)) == 0ms);
}

TEST_CASE("whatever send instants a root claims, the delay is never negative") {
  constexpr auto smallest = std::numeric_limits<std::int64_t>::min(), largest = std::numeric_limits<std::int64_t>::max();
  for (const auto first : {smallest, std::int64_t{0}, largest}) {
    for (const auto second : {smallest, std::int64_t{-1}, largest}) {
      CAPTURE(first);
      CAPTURE(second);
      TransitClock clock;
      CHECK(clock.excess(first, at(0s)) == 0s);
      CHECK(clock.excess(second, at(1s)) >= 0s);
      CHECK(clock.excess(first, at(100s)) >= 0s);
    }
  }
  // Longer than any duration can say.
  TransitClock clock;
  clock.excess(largest, at(0s));
  CHECK(clock.excess(smallest, at(0s)) == Duration::max());
}

}  // namespace hedgerow::leaf
