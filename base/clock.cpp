#include "base/clock.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace hedgerow {

namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// Longest first, so that formatting finds the coarsest exact unit.
constexpr std::array units{Unit{"h", 3'600'000'000'000}, Unit{"m", 60'000'000'000}, Unit{"s", 1'000'000'000},
                           Unit{"ms", 1'000'000},        Unit{"us", 1'000},         Unit{"ns", 1}};

Error not_a_duration(std::string_view text) {
  return {Errc::invalid_argument,
          "'" + std::string(text.substr(0, 40)) + "' is not a duration; write a number and a unit, such as 250ms"};
}

}  // namespace

result<Duration> parse_duration(std::string_view text) {
  const auto unit_at = text.find_first_not_of("0123456789.");
  if (unit_at == 0 || unit_at == std::string_view::npos) return not_a_duration(text);

  double number = 0;
  const char* number_end = text.data() + unit_at;
  const auto [end, problem] = std::from_chars(text.data(), number_end, number, std::chars_format::fixed);
  if (problem != std::errc{} || end != number_end) return not_a_duration(text);

  for (const Unit& unit : units) {
    if (unit.name != text.substr(unit_at)) continue;
    const double nanoseconds = number * static_cast<double>(unit.nanoseconds);
    if (!(nanoseconds <= 24 * 3.6e12)) {
      return Error{Errc::invalid_argument, "'" + std::string(text.substr(0, 40)) + "' is longer than 24 hours"};
    }
    return Duration{std::llround(nanoseconds)};
  }
  return not_a_duration(text);
}

std::string format_duration(Duration duration) {
  const auto count = duration.count();
  if (count == 0) return "0ms";
  for (const Unit& unit : units) {
    if (count % unit.nanoseconds == 0) return std::to_string(count / unit.nanoseconds) + std::string(unit.name);
  }
  return std::to_string(count) + "ns";
}

}  // namespace hedgerow
