#include "leaf/work_here.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "instants.hpp"

namespace hedgerow::leaf {

using namespace std::chrono_literals;

TEST_CASE("only calls that read little and are done soon are light") {
  struct Row {
    std::size_t parts;
    double postings;
    Duration piece;
    bool light;
  };
  for (const Row& row : {Row{1, 0, 60us, true},          //
                         Row{2, 10'000, 60us, true},     //
                         Row{2, 10'001, 60us, false},    // it might read more
                         Row{8, 1000, 62us, true},       // 496 us in all
                         Row{9, 1000, 62us, false},      // 558 us
                         Row{1, 1000, 1ms, false},       // nothing is known yet, or such work is slow here
                         Row{1, std::numeric_limits<double>::infinity(), 1us, false}}) {
    CAPTURE(row.parts);
    CAPTURE(row.postings);
    CHECK(WorkHere{}.may(row.parts, row.postings, row.piece, at(0s)) == row.light);
  }
}

TEST_CASE("a thread that works for half of its time is left alone until it is idle again") {
  WorkHere here;
  // 60 of every 100 us, for ten half lives: the share is that, and seen to pass a half after ln(6) half lives over ln 2.
  Instant now = at(0s);
  std::optional<Duration> left_alone;
  for (int i = 0; i < 10'000; ++i) {
    now = at(100us * i);
    here.add(60us, now);
    if (!left_alone && !here.may(1, 0, 1us, now)) left_alone = now - at(0s);
  }
  CHECK(here.share(now) == doctest::Approx(0.6).epsilon(0.01));
  REQUIRE(left_alone.has_value());
  CHECK(to_seconds(*left_alone) == doctest::Approx(0.1 * std::log2(6)).epsilon(0.02));
  // Half of that after a half life: 0.3.
  CHECK(here.share(now + 100ms) == doctest::Approx(0.3).epsilon(0.01));
  CHECK(here.may(1, 0, 1us, now + 100ms));
  CHECK_FALSE(here.may(1, 0, 1us, now + 20ms));
}

}  // namespace hedgerow::leaf
