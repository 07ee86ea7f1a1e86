// Tied requests: both replicas queue the work, and whichever begins first tells the other to drop it. Pure.
//
// Intuition: what makes an attempt late is mostly the queue that it stands in, and nobody knows beforehand which queue is
// the short one; so stand in both. After "The Tail at Scale" (Dean and Barroso, 2013): the second copy leaves after about
// twice the one-way delay, so that a leaf that is idle has told the other before its copy comes there, and both do not
// begin at once.
//
// States of a pair: first sent, second planned; both sent; one superseded (the other has begun); over. A half that is
// superseded is no failure of the partition. A half that fails otherwise leaves its partition to the other half; if the
// other has not left yet, the pair is given up, and a retry takes its place.
#pragma once

#include <algorithm>

#include "base/clock.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

// Where nothing is known of the way.
constexpr Duration usual_tie_delay = std::chrono::microseconds(500);

// round_trip: what the way to a leaf and back, which is twice the one-way delay, hardly ever takes longer than; 0: unknown.
constexpr Duration tie_delay(Duration round_trip) { return round_trip > Duration::zero() ? round_trip : usual_tie_delay; }

enum class HalfVerdict {
  other_goes_on,  // wait for the other half
  ask_elsewhere,  // nothing runs for this pair any more: judge a retry
};

// A half of a pair ended with this failure; other_in_flight: the other half was sent and is not over.
constexpr HalfVerdict judge_half(AttemptFailure failure, bool other_in_flight) {
  // The other half failed after it had begun, or both were superseded: then not even a superseded half has one that runs.
  if (!other_in_flight || failure == AttemptFailure::bad_query) return HalfVerdict::ask_elsewhere;
  return HalfVerdict::other_goes_on;
}

}  // namespace hedgerow::policy
