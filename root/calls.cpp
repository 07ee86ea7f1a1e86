#include "root/calls.hpp"

#include <algorithm>

namespace hedgerow::root {

using policy::AttemptFailure;
using wire::FailureReason;

wire::PlannedQuery planned_query(const QueryPlan& plan) {
  wire::PlannedQuery out;
  out.query = plan.serialised_query;
  out.terms.reserve(plan.terms.size());
  out.document_frequencies.reserve(plan.terms.size());
  for (const auto& term : plan.terms) {
    out.terms.push_back(term.term);
    out.document_frequencies.push_back(term.document_frequency);
  }
  out.collection_documents = plan.collection_documents;
  out.average_length = plan.average_length;
  return out;
}

wire::TimeLimit time_limit(Instant end, Instant now) {
  return {now.time_since_epoch().count(), std::max(Duration::zero(), end - now)};
}

AttemptFailure failure_of(FailureReason reason) {
  switch (reason) {
    case FailureReason::refused: return AttemptFailure::refused;
    case FailureReason::expired: return AttemptFailure::expired;
    case FailureReason::bad_query: return AttemptFailure::bad_query;
    case FailureReason::superseded: return AttemptFailure::superseded;
    case FailureReason::cancelled:
    case FailureReason::not_served:
    case FailureReason::failed: return AttemptFailure::failed;
  }
  return AttemptFailure::failed;
}

}  // namespace hedgerow::root
