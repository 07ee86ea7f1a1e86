#include "base/clock.hpp"

#include <doctest/doctest.h>

using namespace hedgerow;
using namespace std::chrono_literals;

TEST_CASE("a duration is a number and a unit") {
  const std::pair<const char*, Duration> table[] = {
      {"250ms", 250ms}, {"1.5s", 1500ms}, {"10us", 10us}, {"2m", 2min}, {"300ns", 300ns}, {"1h", 1h}, {"0ms", 0ms},
      {"0.5ms", 500us}, {"24h", 24h},
  };
  for (const auto& [text, expected] : table) {
    CAPTURE(text);
    REQUIRE(parse_duration(text).has_value());
    CHECK(*parse_duration(text) == expected);
  }
}

TEST_CASE("anything else is refused, and the refusal names it") {
  for (const char* text : {"", "250", "ms", "-5ms", "5 ms", "5ms ", "1e3ms", "5MS", "1.2.3s", ".", ".s", "25h", "99999999999999999999s",
                           "5mss", "+5ms", "nan", "infs"}) {
    CAPTURE(text);
    const auto parsed = parse_duration(text);
    REQUIRE(parsed.has_error());
    CHECK(parsed.error().code == Errc::invalid_argument);
    CHECK(parsed.error().context.find(text) != std::string::npos);
  }
}

TEST_CASE("formatting is read back as the same duration, in the coarsest exact unit") {
  const std::pair<Duration, const char*> table[] = {
      {250ms, "250ms"}, {1500ms, "1500ms"}, {1s, "1s"}, {2min, "2m"}, {0ms, "0ms"}, {1500ns, "1500ns"}, {36h / 3, "12h"}};
  for (const auto& [duration, text] : table) {
    CHECK(format_duration(duration) == text);
    CHECK(*parse_duration(text) == duration);
  }
}
