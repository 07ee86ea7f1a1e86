#include "leaf/transit_clock.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace hedgerow::leaf {

namespace {

// A hostile or strange send instant must not be undefined behaviour.
std::int64_t saturating_difference(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

}  // namespace

Duration TransitClock::excess(std::int64_t sent_at_ns, Instant received_at) {
  const std::int64_t difference = saturating_difference(received_at.time_since_epoch().count(), sent_at_ns);
  if (!window_start_) window_start_ = received_at;
  if (received_at - *window_start_ >= window_) {
    // A window without messages leaves the smallest difference as it was.
    if (smallest_) smallest_before_ = std::exchange(smallest_, std::nullopt);
    window_start_ = received_at;
  }
  smallest_ = std::min(smallest_.value_or(difference), difference);
  const std::int64_t base = std::min(*smallest_, smallest_before_.value_or(*smallest_));
  return Duration{saturating_difference(difference, base)};
}

}  // namespace hedgerow::leaf
