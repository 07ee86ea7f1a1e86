// What query policies ask their host to do. A policy is given (event, now) and returns actions; it never suspends, logs,
// locks, or reads a clock. Two hosts perform them: root/fanout_runner on Asio, the simulator in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::policy {

// Of a tied pair: the other attempt, and the leaf that has it or will get it a moment later.
struct Twin {
  AttemptId attempt;
  LeafId leaf;
};

// Ask this leaf for this partition. Actions of one batch that go to the same leaf may travel in one frame.
struct SendAttempt {
  AttemptId attempt;
  PartitionId partition;
  LeafId leaf;
  AttemptKind kind = AttemptKind::primary;
  std::optional<Twin> twin = std::nullopt;
};

// Nobody waits for this attempt any more.
struct CancelAttempt {
  AttemptId attempt;
};

// Call on_wake at this instant (or later); replaces every earlier wish.
struct WakeAt {
  Instant at;
};

// The search still waits, but it is time to fetch the documents of the hits that stand so far.
struct FetchEarly {};

// Ask this leaf for these documents (places in the list that the fetch was made with).
struct SendFetch {
  AttemptId attempt;
  LeafId leaf;
  std::vector<std::size_t> places;
};

// The parts of an answer that it can do without.
enum class SubsystemKind : std::uint8_t { spelling, snippets, facets };
constexpr std::size_t subsystem_kinds = 3;

constexpr std::string_view to_string(SubsystemKind kind) {
  switch (kind) {
    case SubsystemKind::spelling: return "spelling";
    case SubsystemKind::snippets: return "snippets";
    case SubsystemKind::facets: return "facets";
  }
  return "spelling";
}

// Ask this leaf for these parts of an optional subsystem's work.
struct SendParts {
  AttemptId attempt;
  SubsystemKind kind;
  LeafId leaf;
  std::vector<std::size_t> places;
};

enum class FinishReason {
  complete,     // all that was asked answered
  good_enough,  // enough answered, and waiting on was not worth it
  deadline,     // the time was over
  exhausted,    // everything that could answer has; the rest failed
};

constexpr std::string_view to_string(FinishReason reason) {
  switch (reason) {
    case FinishReason::complete: return "complete";
    case FinishReason::good_enough: return "good_enough";
    case FinishReason::deadline: return "deadline";
    case FinishReason::exhausted: return "exhausted";
  }
  return "complete";
}

// Nothing more will be asked for; no event is expected after it.
struct Finish {
  FinishReason reason = FinishReason::complete;
};

using Action = std::variant<SendAttempt, CancelAttempt, WakeAt, FetchEarly, SendFetch, SendParts, Finish>;
using Actions = std::vector<Action>;

// Why an attempt came to nothing.
enum class AttemptFailure {
  refused,      // the leaf's queue is full, or it is stopping
  expired,      // the leaf found no time left for it
  unreachable,  // the link is down
  failed,       // the leaf tried, and could not; or does not hold the partition
  bad_query,    // no leaf could run it
  superseded,   // its twin began first, so this one left the queue
};

}  // namespace hedgerow::policy
