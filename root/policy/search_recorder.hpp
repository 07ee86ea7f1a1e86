// Writes down what the search policies are told, and what they answer, so that it can be replayed. Pure: lines go to
// whoever made it.
//
// Everything that changes SearchPolicies passes here, in its order: leaves up and down, changes of the budget, every event
// of every fan-out with its actions, and the single steps of those that are no fan-out (canaries). Decisions depend on
// nothing else, so a replay (see replay.hpp) with the same settings and seed must come to the same actions; where it does
// not, a policy has read a clock, or chance that was not passed in, or something changed it behind the recorder's back.
//
// A line for each event: a word, its arguments, and after " > " the actions; instants and durations in nanoseconds. The
// format has a number, and is read by this version's programs only:
//   hedgerow-recording 1
//   settings seed=… hedge.budget_fill=… …
//   up LEAF | down LEAF | budget FILL DEPTH NOW
//   new QUERY END EARLY|- MODE QUANTILE DELAY TIED COMPLETENESS PATIENCE PARTITION:DOCUMENTS:LEAF,LEAF …
//   adopt QUERY INDEX LEAF | start QUERY NOW > ACTIONS | answer QUERY ATTEMPT REPORT NOW > merge|drop ACTIONS
//   fail QUERY ATTEMPT FAILURE NOW > ACTIONS | started QUERY ATTEMPT NOW > ACTIONS | wake QUERY NOW > ACTIONS
//   abandon QUERY NOW > ACTIONS | gone QUERY
//   choose LEAF,… TRIED,…|- > LEAF|- | sent … | answered … | given_up … | failed … | ended LEAF | healthy NOW
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "root/policy/query/action.hpp"

namespace hedgerow::policy {

struct AttemptReport;
struct SearchPolicySettings;

class SearchRecorder {
 public:
  // Takes each line, without its end.
  using Sink = std::function<void(std::string_view line)>;

  // Before the first event; the policies were made with these settings and this seed.
  SearchRecorder(Sink sink, const SearchPolicySettings& settings, std::uint64_t seed);
  SearchRecorder(const SearchRecorder&) = delete;
  SearchRecorder& operator=(const SearchRecorder&) = delete;

  // A line being written: words with spaces between them; it goes to the sink when it is over.
  class Line {
   public:
    Line(SearchRecorder& recorder, std::string_view word);
    ~Line();
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    Line& add(std::string_view word);
    Line& add(std::uint64_t number);
    Line& add(std::uint32_t number) { return add(std::uint64_t{number}); }
    Line& add(double number);
    Line& add(Instant instant);
    Line& add(Duration duration);
    Line& add(LeafId leaf) { return add(leaf.value); }
    Line& add(AttemptId attempt) { return add(attempt.value); }
    Line& add(std::span<const LeafId> leaves);
    Line& add_partition(PartitionId partition, std::uint64_t documents, std::span<const LeafId> replicas);
    Line& add(const AttemptReport& report);
    Line& add(const Actions& actions);

   private:
    SearchRecorder& recorder_;
  };
  Line line(std::string_view word) { return Line(*this, word); }

  // A query's number in this recording.
  std::uint64_t next_query() { return queries_++; }

 private:
  Sink sink_;
  std::string text_;  // of the line being written
  std::uint64_t queries_ = 0;
};

// As a recording writes them: "s3:17:4:hedge c2 w1500000".
std::string recorded(const Actions& actions);
std::string_view to_string(AttemptFailure failure);
std::optional<AttemptFailure> failure_named(std::string_view name);
std::optional<AttemptKind> attempt_kind_named(std::string_view name);

}  // namespace hedgerow::policy
