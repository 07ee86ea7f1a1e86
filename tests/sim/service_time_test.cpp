#include "lab/simulation/service_time.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace hedgerow::lab::simulation {

TEST_CASE("what is drawn is longer than a time as often as the distribution says, and as long on average") {
  const auto file = std::filesystem::temp_directory_path() / ("hedgerow-service-time-" + std::to_string(::getpid()) + ".txt");
  std::ofstream(file) << "# measured\n1ms\n2ms 3\n7ms\n";
  const std::string texts[] = {"constant:5ms",
                               "uniform:3ms..10ms",
                               "exponential:5ms",
                               "erlang:15ms,6",
                               "lognormal:5ms,0.7",
                               "pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s",
                               "pieces:1ms=1,2ms=0.5,4ms=0",
                               "mix:0.9*constant:2ms+0.1*exponential:20ms",
                               "empirical:" + file.string()};
  constexpr int draws = 200'000;
  for (const auto& text : texts) {
    CAPTURE(text);
    const auto distribution = ServiceTime::parse(text);
    REQUIRE(distribution.has_value());
    Random random(7);
    std::vector<Duration> drawn;
    double sum = 0, squares = 0;
    for (int i = 0; i < draws; ++i) {
      drawn.push_back(distribution->draw(random));
      const double seconds = to_seconds(drawn.back());
      sum += seconds;
      squares += seconds * seconds;
    }
    const double mean = sum / draws, deviation = std::sqrt(std::max(0.0, squares / draws - mean * mean) / draws);
    CHECK(std::abs(mean - distribution->mean_seconds()) <= 4 * deviation + 1e-8);
    for (const double ms : {0.5, 1.5, 2.5, 4.9, 5.1, 9.0, 11.0, 30.0, 100.0}) {
      CAPTURE(ms);
      const Duration time = from_milliseconds(ms);
      const double expected = distribution->longer_than(time);
      const auto longer = std::count_if(drawn.begin(), drawn.end(), [&](Duration d) { return d > time; });
      const double tolerance = 4 * std::sqrt(expected * (1 - expected) / draws) + 2.0 / draws;
      CHECK(std::abs(static_cast<double>(longer) / draws - expected) <= tolerance);
    }
  }
  std::filesystem::remove(file);
}

TEST_CASE("the tail of the hedged experiment goes through the points that the paper's example names") {
  const auto latency = ServiceTime::parse("pieces:3ms=1,10ms=0.02,70ms=0.0032,1800ms=0.00001,cap=4s");
  REQUIRE(latency.has_value());
  const auto longer = [&](double ms) { return latency->longer_than(from_milliseconds(ms)); };
  CHECK(longer(2.9) == 1);
  CHECK(longer(6.5) == doctest::Approx(0.51));
  CHECK(longer(10) == doctest::Approx(0.02));
  CHECK(longer(70) == doctest::Approx(0.0032));
  CHECK(longer(1800) == doctest::Approx(1e-5));
  // Half way between two points on both logarithmic scales: the geometric means.
  CHECK(longer(std::sqrt(10.0 * 70)) == doctest::Approx(std::sqrt(0.02 * 0.0032)));
  CHECK(longer(3999) > 0);
  CHECK(longer(4000) == 0);
}

TEST_CASE("what is no distribution is an error that says why") {
  for (const char* text : {"", "5ms", "constant", "constant:5", "normal:5ms,1", "uniform:5ms", "uniform:5ms..3ms", "lognormal:5ms",
                           "lognormal:5ms,-1", "erlang:5ms", "erlang:5ms,0", "erlang:5ms,1.5", "pieces:3ms=1", "pieces:3ms=0.5,4ms=0",
                           "pieces:3ms=1,4ms=0.1", "pieces:3ms=1,2ms=0.1,cap=1s", "pieces:3ms=1,4ms=2,cap=1s", "mix:0.5*constant:1ms",
                           "mix:constant:1ms", "empirical:/nowhere/at/all"}) {
    CAPTURE(text);
    const auto parsed = ServiceTime::parse(text);
    REQUIRE(parsed.has_error());
    CHECK_FALSE(parsed.error().context.empty());
  }
}

}  // namespace hedgerow::lab::simulation
