// How an attempt of a search ended, for counting: every attempt that was sent is counted once, by its kind and by what its
// leaf said last of it, even where that comes after its query's answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/attempt.hpp"

namespace hedgerow::wire {
struct PartitionFailure;
}

namespace hedgerow::root {

struct Metrics;

enum class AttemptEnding : std::uint8_t {
  answered,           // its answer was merged (of a probe: listened to)
  late,               // it was executed to its end, and nobody waited for it
  refused,            // the leaf's queue was full, or it was stopping
  expired,            // its time was over when its turn came
  cancelled_queued,   // given up in time: it was never executed
  cancelled_running,  // given up while it was executed
  superseded,         // its twin began first: it was never executed
  failed,             // the leaf could not
  unreachable,        // the link was down, or broke
};
constexpr std::size_t attempt_endings = 9;

constexpr std::string_view to_string(AttemptEnding ending) {
  switch (ending) {
    case AttemptEnding::answered: return "answered";
    case AttemptEnding::late: return "late";
    case AttemptEnding::refused: return "refused";
    case AttemptEnding::expired: return "expired";
    case AttemptEnding::cancelled_queued: return "cancelled_queued";
    case AttemptEnding::cancelled_running: return "cancelled_running";
    case AttemptEnding::superseded: return "superseded";
    case AttemptEnding::failed: return "failed";
    case AttemptEnding::unreachable: return "unreachable";
  }
  return "failed";
}

// What both halves of a tied pair share.
struct TiedPair {
  std::uint64_t name = 0;
  int executed = 0;  // halves whose execution began, as far as is known
};

AttemptEnding ending_of(const wire::PartitionFailure& failure);

// pair: of a tied attempt, or null. executed: its execution had begun; where both halves' had, that is counted as well.
void count_ending(Metrics& metrics, AttemptKind kind, AttemptEnding ending, TiedPair* pair, bool executed);

}  // namespace hedgerow::root
