#include "leaf/processor_burner.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "base/steady_clock.hpp"
#include "processor_time.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

// Fails the test rather than wait for ever.
template <class Condition>
void wait_for(Condition condition) {
  const Instant give_up = clock_now() + 60s;
  while (!condition()) {
    REQUIRE(clock_now() < give_up);
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("burning takes so much of this thread's processor time, and little more") {
  const auto begin = processor_time(CLOCK_THREAD_CPUTIME_ID);
  burn_processor(20ms, [] { return true; });
  const Duration burnt = processor_time(CLOCK_THREAD_CPUTIME_ID) - begin;
  CHECK(burnt >= 20ms);
  CHECK(burnt < 40ms);
}

TEST_CASE("burning ends when it is no longer wanted") {
  int asked = 0;
  burn_processor(1h, [&] { return ++asked < 3; });
  CHECK(asked == 3);
}

TEST_CASE("burners burn until they are told to stop, end by themselves, and can be told again") {
  ProcessorBurner burner(2);
  CHECK(others_are_silent());
  for (int run = 0; run < 2; ++run) {
    const Duration begin = processor_time_of_others();
    burner.burn_until(clock_now() + 1h);
    wait_for([&] { return processor_time_of_others() - begin > 20ms; });
    burner.stop();
    wait_for(others_are_silent);
  }
  const Duration begin = processor_time_of_others();
  burner.burn_until(clock_now() + 5ms);
  wait_for([&] { return processor_time_of_others() > begin; });
  wait_for(others_are_silent);
}

TEST_CASE("a burner that is let go ends at once, though it was told to burn for long") {
  const Instant begin = clock_now();
  {
    ProcessorBurner burner(3);
    burner.burn_until(begin + 1h);
  }
  CHECK(clock_now() - begin < 30s);
}

}  // namespace hedgerow::leaf
