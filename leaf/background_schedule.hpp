// When periodic background work runs: for `length` at the begin of every `period`, for ever, in both directions of time.
// Pure; the leaf's faults and the simulator share it.
//
// Aligned leaves have one anchor and one phase, so that their work falls into the same moments and a query meets it on all
// of them or on none; staggered ones have phases of their own, so that nearly every query meets it somewhere. (Dean and
// Barroso: synchronise it, and the many pay at once, briefly, rather than a few always.)
#pragma once

#include <cstddef>
#include <string_view>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace hedgerow::leaf {

struct BackgroundSchedule {
  Instant anchor{};    // a run begins at anchor + phase, and whole periods before and after
  Duration period{};   // above 0
  Duration length{};   // above 0, below the period
  Duration phase{};

  bool is_active(Instant at) const { return since_begin(at) < length; }

  // The next instant after `at` at which a run begins or ends.
  Instant next_change(Instant at) const {
    const Duration since = since_begin(at);
    return at + ((since < length ? length : period) - since);
  }

  // How much of the time from one instant to a later one runs take.
  Duration active_between(Instant from, Instant to) const { return active_until(to) - active_until(from); }

 private:
  Duration since_begin(Instant at) const {
    const Duration rest = (at - anchor - phase) % period;
    return rest < Duration::zero() ? rest + period : rest;
  }
  // Since the anchor; negative before it.
  Duration active_until(Instant at) const {
    const Duration since = since_begin(at);
    const auto periods = (at - anchor - phase - since) / period;
    return periods * length + (since < length ? since : length);
  }
};

// The instant of a steady clock at which Unix time was 0: the anchor that all leaves agree on, as far as their machines'
// clocks agree.
constexpr Instant unix_epoch(Instant now, Duration unix_time) { return now - unix_time; }

// Even phases for leaves that are numbered; number is below count.
constexpr Duration staggered_phase(Duration period, std::size_t number, std::size_t count) {
  return Duration{static_cast<Duration::rep>(static_cast<double>(period.count()) * static_cast<double>(number) /
                                             static_cast<double>(count))};
}

// A leaf that knows nothing of the others takes one by its name, as good as drawn.
inline Duration staggered_phase(Duration period, std::string_view name) {
  const double share = static_cast<double>(stable_hash(name) >> 11) * 0x1.0p-53;
  return Duration{static_cast<Duration::rep>(static_cast<double>(period.count()) * share)};
}

}  // namespace hedgerow::leaf
