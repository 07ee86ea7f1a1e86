// A query plan as it came over the wire, made ready to run.
#pragma once

#include "index/searcher.hpp"
#include "wire/messages.hpp"

namespace hedgerow::leaf {

// Errors: those of PreparedQuery::prepare.
result<PreparedQuery> prepare_query(const wire::PlannedQuery& plan, Generation generation);

}  // namespace hedgerow::leaf
