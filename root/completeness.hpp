// How complete an answer is, and what becomes of one that is nothing. Pure.
#pragma once

#include <map>

#include "index/manifest.hpp"
#include "root/answer.hpp"
#include "root/assignment.hpp"
#include "root/policy/query/fanout.hpp"

namespace hedgerow::root {

// lost_later: partitions that answered, but whose hits' titles nobody delivered.
Completeness completeness_of(const Assignment& assignment, const policy::Fanout& fanout, const Manifest& manifest,
                             const std::map<PartitionId, MissingReason>& lost_later);

// Of a query that asked nobody: every partition that it wanted is missing, for this reason.
Completeness completeness_of_nothing(const Assignment& assignment, const Manifest& manifest, MissingReason reason);

// A query that no partition answered is an error, never an empty answer.
SearchRefusal nothing_answered(Completeness completeness);

}  // namespace hedgerow::root
