#include "root/attempt_ending.hpp"

#include "root/metrics.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

AttemptEnding ending_of(const wire::PartitionFailure& failure) {
  switch (failure.reason) {
    case wire::FailureReason::refused: return AttemptEnding::refused;
    case wire::FailureReason::expired: return AttemptEnding::expired;
    case wire::FailureReason::superseded: return AttemptEnding::superseded;
    case wire::FailureReason::cancelled:
      return failure.started ? AttemptEnding::cancelled_running : AttemptEnding::cancelled_queued;
    case wire::FailureReason::not_served:
    case wire::FailureReason::bad_query:
    case wire::FailureReason::failed: return AttemptEnding::failed;
  }
  return AttemptEnding::failed;
}

void count_ending(Metrics& metrics, AttemptKind kind, AttemptEnding ending, TiedPair* pair, bool executed) {
  metrics.attempts_ended[static_cast<std::size_t>(kind)][static_cast<std::size_t>(ending)]->Increment();
  if (pair && executed && ++pair->executed == 2) metrics.tied_both_began.Increment();
}

}  // namespace hedgerow::root
