#include "lab/simulation/event_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"

namespace hedgerow::lab::simulation {

TEST_CASE("events come in order of time, and those of one instant in the order in which they were added") {
  EventQueue queue;
  Random random(1);
  std::vector<std::pair<Instant, std::uint32_t>> reference;
  std::vector<std::pair<Instant, std::uint32_t>> seen;
  Instant now;
  std::uint32_t number = 0;
  // Added and taken in turns, as a simulation does: never into the past, and often into the same instant.
  for (int turn = 0; turn < 20'000; ++turn) {
    for (std::uint64_t adds = random.below(4); adds > 0; --adds) {
      const Instant at = now + Duration(static_cast<Duration::rep>(random.below(20)));
      queue.push(at, EventKind::service_ends, number);
      reference.emplace_back(at, number++);
    }
    for (std::uint64_t takes = random.below(4); takes > 0 && !queue.empty(); --takes) {
      const Event event = queue.pop();
      CHECK(event.at >= now);
      CHECK(event.kind() == EventKind::service_ends);
      now = event.at;
      seen.emplace_back(event.at, event.subject);
    }
  }
  while (!queue.empty()) {
    const Event event = queue.pop();
    seen.emplace_back(event.at, event.subject);
  }
  std::sort(reference.begin(), reference.end());
  CHECK(seen == reference);
}

}  // namespace hedgerow::lab::simulation
