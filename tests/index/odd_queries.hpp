// What people type by accident, by habit from elsewhere, or to see what happens; and what each must lead to, written by
// hand. None may crash, hang or be answered by a failure of the server's.
//
// Pure; for tests of the planner and of the HTTP API alike. They assume a collection whose facets are "section"
// (categories), "year" (numbers) and "date" (dates).
#pragma once

#include <string>
#include <vector>

namespace hedgerow::test {

enum class OddOutcome {
  answer,     // hits or none, but an answer
  refused,    // invalid_argument, over HTTP a 400: there is nothing to search for, or it cannot be read
  too_large,  // too_large, over HTTP a 400: beyond a stated bound
};

struct OddQuery {
  std::string text;  // any bytes
  OddOutcome outcome = OddOutcome::answer;
};

// All distinct.
const std::vector<OddQuery>& odd_queries();

}  // namespace hedgerow::test
