// Answers of a running root, for comparison: over several connections at once, and by the external ids of hits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.hpp"
#include "comparison.hpp"
#include "expected_answers.hpp"

namespace hedgerow::test {

struct RootQuestion {
  const ExpectedAnswer* asked = nullptr;
  Slice slice;
};

struct RootReply {
  // Errors: those of HTTP; unavailable for an answer that is still not complete when asked again; internal for one that
  // names a document which no answer expects.
  result<RankedAnswer> answer = Error{};
  unsigned asked_again = 0;  // because an answer was not complete: a leaf of a busy machine was taken for dead
  double milliseconds = 0;
};

// Asks every question once, on the calling thread; replies come in any order. Throws where the address makes no sense.
void ask_root(const std::string& url, const std::vector<RootQuestion>& questions, unsigned connections,
              const std::function<void(const RootQuestion&, const RootReply&)>& on_reply);

}  // namespace hedgerow::test
