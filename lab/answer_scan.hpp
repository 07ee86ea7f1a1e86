// The few facts that the load generator wants of an answer, found without building the JSON: a walk over the bytes that
// knows strings and nesting, so that what looks like a field inside a hit's text or a nested object is not taken for
// one. Exact on valid JSON; on anything else it finds nothing or stops early, and never reads beyond the text. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

namespace hedgerow::lab {

struct AnswerFacts {
  std::optional<double> took_ms;    // the server's own time
  std::optional<double> completeness;  // completeness.fraction
  std::string_view finished;        // "complete", "deadline"; empty where the answer has none; points into the text
};

AnswerFacts scan_answer(std::string_view json);

}  // namespace hedgerow::lab
