// The few facts that the load generator wants of an answer, found without building the JSON: a walk over the bytes that
// knows strings and nesting, so that what looks like a field inside a hit's text or a nested object is not taken for
// one. Exact on valid JSON; on anything else it finds nothing or stops early, and never reads beyond the text. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/attempt.hpp"

namespace hedgerow::lab {

// The views point into the text.
struct AnswerFacts {
  std::optional<double> took_ms;            // the server's own time
  std::optional<double> completeness;       // completeness.fraction
  std::optional<double> estimated_recall;   // completeness.estimated_recall
  std::optional<std::uint64_t> partitions_asked;
  std::string_view finished;                // "complete", "deadline"; empty where the answer has none
  std::array<std::uint64_t, attempt_kinds> attempts{};  // by AttemptKind
  std::uint64_t hedges_won = 0, cancelled = 0;
  std::vector<std::pair<std::string_view, std::string_view>> subsystems;  // name and status; at most eight
  // As they stand there, for what follows; empty where the answer has none.
  std::string_view hits, trace;
};

AnswerFacts scan_answer(std::string_view json);

// The ids of `hits`, best first; one that is no string is empty.
std::vector<std::string> hit_ids(std::string_view hits);

// One attempt of a search, as trace=on tells it.
struct TracedAttempt {
  double sent_ms = 0;
  std::optional<double> ended_ms;  // none: still open when the answer was made
  std::string_view outcome;
};

// Of `trace`, the attempts of the search; not the fetches and subsystems, which are of no partition.
std::vector<TracedAttempt> traced_attempts(std::string_view trace);

}  // namespace hedgerow::lab
