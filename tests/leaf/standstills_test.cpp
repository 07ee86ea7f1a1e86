#include "leaf/standstills.hpp"

#include <doctest/doctest.h>

namespace hedgerow::leaf {

using namespace std::chrono_literals;

TEST_CASE("work met a standstill if one went on at any time since it came, and nothing of earlier ones") {
  const Instant start = Instant{} + 100h;
  Standstills standstills;
  CHECK(standstills.since(start) == "");
  standstills.begin(StandstillCause::pause);
  CHECK(standstills.since(start) == "pause");
  CHECK(standstills.since(start + 1h) == "pause");  // it goes on
  standstills.end(StandstillCause::pause, start + 10ms);
  CHECK(standstills.since(start + 9ms) == "pause");
  CHECK(standstills.since(start + 10ms) == "");
  CHECK(standstills.since(start + 11ms) == "");

  standstills.begin(StandstillCause::background);
  CHECK(standstills.since(start) == "pause, background");
  CHECK(standstills.since(start + 20ms) == "background");
  standstills.end(StandstillCause::background, start + 30ms);
  standstills.begin(StandstillCause::background);
  standstills.end(StandstillCause::background, start + 50ms);
  CHECK(standstills.since(start + 40ms) == "background");
  CHECK(standstills.since(start + 50ms) == "");
}

}  // namespace hedgerow::leaf
