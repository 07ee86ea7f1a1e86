// Whether a failed attempt is tried again on another replica. Pure.
//
// Intuition: a failure that comes back at once costs nothing but itself, and another replica most likely answers; so
// turn to it at once. But not when the time is over (it could only come too late), not when the query itself is at
// fault, and not when so much fails that repeating it is a load of its own.
#pragma once

#include "base/clock.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

enum class RetryVerdict { retry, too_late, pointless, over_budget };

// has_replica: one is up that was not asked yet. A token is taken from the budget only for the verdict retry.
inline RetryVerdict judge_retry(AttemptFailure failure, bool has_replica, Instant search_end, Instant now,
                                AttemptBudget& budget) {
  if (failure == AttemptFailure::bad_query || !has_replica) return RetryVerdict::pointless;
  if (failure == AttemptFailure::expired || now >= search_end) return RetryVerdict::too_late;
  return budget.take() ? RetryVerdict::retry : RetryVerdict::over_budget;
}

}  // namespace hedgerow::policy
