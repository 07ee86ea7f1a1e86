// The messages between root and leaf: plain values, no bytes and no sockets.
//
// One WebSocket carries them in both directions, many calls at once, answers in any order. The caller picks call ids;
// every partition of a search call is answered exactly once, by a PartitionAnswer or a PartitionFailure, and a call is
// over when its last partition is answered. Queries travel as bytes: this folder knows nothing of Xapian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"

namespace hedgerow::wire {

// Grows with every change that an older peer would misread; peers of different versions do not talk.
constexpr std::uint32_t protocol_version = 1;

// How busy a leaf is, with every answer.
struct Load {
  std::uint32_t queued = 0;   // attempts waiting
  std::uint32_t running = 0;  // attempts on a worker
};

// The first message in each direction.
struct Hello {
  std::uint32_t version = protocol_version;
  std::string name;              // of the leaf or the root
  std::int64_t sent_at_ns = 0;   // the sender's clock: the first measure for leaf/transit_clock
  std::string collection;        // what follows is a leaf's only
  Generation generation;
  std::vector<PartitionId> partitions;
};

// When a caller's clock stood where, and how much time the work has from there. No synchronised clocks: a leaf compares
// differences only (see leaf/transit_clock).
struct TimeLimit {
  std::int64_t sent_at_ns = 0;
  Duration remaining{};
};

struct SearchCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  std::string query;  // as index/query serialises it
  std::vector<std::string> terms;
  std::vector<std::uint32_t> document_frequencies;  // one for each term
  std::uint64_t collection_documents = 0;
  double average_length = 0;
  std::vector<PartitionId> partitions;
  std::uint32_t k = 10;
  double score_threshold = 0;
  ServiceClass service_class = ServiceClass::interactive;
  AttemptKind kind = AttemptKind::primary;
};

struct PartitionAnswer {
  CallId call;
  PartitionId partition;
  std::vector<std::uint32_t> documents;  // document numbers, in rank order
  std::vector<double> scores;            // one for each document
  std::uint64_t matches = 0;
  bool matches_exact = false;
  Duration queue_time{};
  Duration service_time{};
  Load load;
  std::string fault;  // what was injected into this attempt, empty for nothing
};

enum class FailureReason : std::uint8_t {
  refused,       // the queue is full, or the leaf is stopping
  expired,       // no time was left when its turn came
  cancelled,     // the caller said so
  not_served,    // this leaf does not hold the partition, or not in that generation
  bad_query,     // the query cannot be run anywhere
  failed,        // the engine failed
};

std::string_view to_string(FailureReason reason);

struct PartitionFailure {
  CallId call;
  PartitionId partition;
  FailureReason reason = FailureReason::failed;
  std::string detail;
  Duration queue_time{};
  Load load;
  std::string fault;
};

// Stops work of a call: that of the named partitions, or all of it when none is named. Answers that are on their way
// still come.
struct Cancel {
  CallId call;
  std::vector<PartitionId> partitions;
};

struct DocumentAddress {
  PartitionId partition;
  DocumentNumber document;
};

// The second phase: what the user sees of the final hits.
struct FetchCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  std::vector<DocumentAddress> documents;
};

struct FetchedDocument {
  std::string id;
  std::string title;
  std::string url;
};

// In the order asked.
struct FetchAnswer {
  CallId call;
  std::vector<FetchedDocument> documents;
  Load load;
};

// A fetch that failed as a whole.
struct CallFailure {
  CallId call;
  FailureReason reason = FailureReason::failed;
  std::string detail;
};

using Message =
    std::variant<Hello, SearchCall, PartitionAnswer, PartitionFailure, Cancel, FetchCall, FetchAnswer, CallFailure>;

}  // namespace hedgerow::wire
