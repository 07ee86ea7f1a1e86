// What all calls to leaves have in common: how a plan and a time limit travel, and what a leaf's failure means to a
// policy. Pure.
#pragma once

#include "index/query.hpp"
#include "root/policy/query/action.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

wire::PlannedQuery planned_query(const QueryPlan& plan);
// What is left until the end, of now.
wire::TimeLimit time_limit(Instant end, Instant now);
policy::AttemptFailure failure_of(wire::FailureReason reason);

}  // namespace hedgerow::root
