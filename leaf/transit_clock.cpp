#include "leaf/transit_clock.hpp"

#include <algorithm>

namespace hedgerow::leaf {

Duration TransitClock::excess(std::int64_t sent_at_ns, Instant received_at) {
  // Unsigned arithmetic wraps: a hostile or strange send instant must not be undefined behaviour.
  const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(received_at.time_since_epoch().count()) -
                                                    static_cast<std::uint64_t>(sent_at_ns));
  if (!window_start_) window_start_ = received_at;
  if (received_at - *window_start_ >= window_) {
    // A window without messages leaves the smallest difference as it was.
    if (smallest_) smallest_before_ = std::exchange(smallest_, std::nullopt);
    window_start_ = received_at;
  }
  smallest_ = std::min(smallest_.value_or(difference), difference);
  const std::int64_t base = std::min(*smallest_, smallest_before_.value_or(*smallest_));
  return Duration{static_cast<std::int64_t>(static_cast<std::uint64_t>(difference) - static_cast<std::uint64_t>(base))};
}

}  // namespace hedgerow::leaf
