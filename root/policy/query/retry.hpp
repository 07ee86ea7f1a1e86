// Whether a failed attempt is tried again on another replica. Pure.
//
// Intuition: a failure that comes back at once costs nothing but itself, and another replica most likely answers; so
// turn to it at once. But not when the time is over (it could only come too late), not when the query itself is at
// fault, not when it has cost two leaves already (a third might follow them), and not when so much fails that repeating
// it is a load of its own. What was extra work from the start and was refused for load is not repeated while the real
// attempt runs.
#pragma once

#include <cstddef>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "root/policy/cluster/attempt_budget.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

enum class RetryVerdict { retry, too_late, pointless, over_budget };

// After so many different leaves were lost with a query's work on them, it is neither retried nor hedged.
constexpr std::size_t most_leaves_lost = 2;

constexpr bool may_ask_again(std::size_t leaves_lost) { return leaves_lost < most_leaves_lost; }

// kind: of the attempt that failed; others_in_flight: the partition has other attempts that are not over.
constexpr bool is_worth_repeating(AttemptKind kind, AttemptFailure failure, bool others_in_flight) {
  if (!others_in_flight) return true;
  if (kind == AttemptKind::probe) return false;
  return kind != AttemptKind::hedge || failure != AttemptFailure::refused;
}

// has_replica: one is up that was not asked yet. A token is taken from the budget only for the verdict retry.
inline RetryVerdict judge_retry(AttemptFailure failure, bool has_replica, Instant search_end, Instant now,
                                AttemptBudget& budget) {
  if (failure == AttemptFailure::bad_query || !has_replica) return RetryVerdict::pointless;
  if (failure == AttemptFailure::expired || now >= search_end) return RetryVerdict::too_late;
  return budget.take() ? RetryVerdict::retry : RetryVerdict::over_budget;
}

}  // namespace hedgerow::policy
