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
constexpr std::uint32_t protocol_version = 5;

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
  bool spelling = false;  // it answers SpellCalls
  bool twin = false;      // a leaf that has come to another leaf: it sends TieStarted, and no calls
};

// When a caller's clock stood where, and how much time the work has from there. No synchronised clocks: a leaf compares
// differences only (see leaf/transit_clock).
struct TimeLimit {
  std::int64_t sent_at_ns = 0;
  Duration remaining{};
};

// A query plan, in whatever is asked about a query.
struct PlannedQuery {
  std::string query;  // as index/query serialises it
  std::vector<std::string> terms;
  std::vector<std::uint32_t> document_frequencies;  // one for each term
  std::uint64_t collection_documents = 0;
  double average_length = 0;
};

// One half of a tied pair: the same partition is asked of another leaf as well, and whichever begins first tells the
// other, which then drops its copy if it has not begun.
struct Tie {
  PartitionId partition;
  std::uint64_t tie = 0;     // the pair's name, the same in both halves, never used again
  std::string twin_address;  // of the other leaf, host:port
};

// What a list of hits shows of one.
struct FetchedDocument {
  std::string id;
  std::string title;
  std::string url;
};

struct SearchCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  PlannedQuery plan;
  std::vector<PartitionId> partitions;
  std::uint32_t k = 10;
  std::uint32_t titles = 0;  // of each partition's first hits, so many bring along what a list shows of them
  double score_threshold = 0;
  ServiceClass service_class = ServiceClass::interactive;
  AttemptKind kind = AttemptKind::primary;
  std::vector<Tie> ties;  // at most one for each partition
};

struct PartitionAnswer {
  CallId call;
  PartitionId partition;
  std::vector<std::uint32_t> documents;  // document numbers, in rank order
  std::vector<double> scores;            // one for each document
  // Of the first documents: at most as many as were asked for, and fewer where one could not be read or cannot be among
  // the best k of all.
  std::vector<FetchedDocument> shown{};
  std::uint64_t matches = 0;
  bool matches_exact = false;
  Duration queue_time{};
  Duration service_time{};
  Load load;
  std::string fault;  // what was injected into this work, empty for nothing; so in every other answer and failure
};

enum class FailureReason : std::uint8_t {
  refused,       // the queue is full, or the leaf is stopping
  expired,       // no time was left when its turn came
  cancelled,     // the caller said so
  superseded,    // its twin began first
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
  bool started = false;  // it was on a worker when it ended
  Load load;
  std::string fault;
};

// Work of a tied pair has begun here. Leaf to leaf (then call and partition say nothing); leaf to root, where the twin
// could not be told, so that the root cancels it.
struct TieStarted {
  std::uint64_t tie = 0;
  CallId call;
  PartitionId partition;
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
  ServiceClass service_class = ServiceClass::interactive;
};

// In the order asked.
struct FetchAnswer {
  CallId call;
  std::vector<FetchedDocument> documents;
  Load load;
  std::string fault{};
};

// The optional subsystems. Each is asked apart from hits and titles, so that none can delay them.

// Snippets of final hits, from a leaf that holds them all.
struct SnippetCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  PlannedQuery plan;
  std::vector<DocumentAddress> documents;
  ServiceClass service_class = ServiceClass::interactive;
};

// In the order asked. HTML.
struct SnippetAnswer {
  CallId call;
  std::vector<std::string> snippets;
  Load load;
  Duration service_time{};
  std::string fault{};
};

// Counts of facet values over all matching documents. As with a search, every partition is answered exactly once: by a
// FacetAnswer or a PartitionFailure.
struct FacetCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  PlannedQuery plan;
  std::vector<PartitionId> partitions;
  std::vector<std::string> facets;
  std::uint32_t most_values = 1000;  // of one facet in one partition
  ServiceClass service_class = ServiceClass::interactive;
};

// Of one facet.
struct FacetValueCounts {
  std::vector<std::string> values;    // in rising byte order
  std::vector<std::uint64_t> counts;  // one for each value
  bool cut = false;                   // there were more values than asked for
};

struct FacetAnswer {
  CallId call;
  PartitionId partition;
  std::vector<FacetValueCounts> facets;  // in the order asked
  Load load;
  Duration service_time{};
  std::string fault{};
};

// What mistyped words may have meant.
struct SpellCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  std::vector<std::string> words;  // in lower case
};

struct SpellAnswer {
  CallId call;
  std::vector<std::string> suggestions;             // in the order asked; empty: none
  std::vector<std::uint32_t> document_frequencies;  // of the suggestions
  Load load;
  Duration service_time{};
  std::string fault{};
};

// A document by its external id.
struct LookupCall {
  CallId call;
  TimeLimit time;
  Generation generation;
  PartitionId partition;
  std::string id;
  std::uint32_t most_terms = 0;  // 0: the document itself is wanted; otherwise the terms that say what it is about
};

struct LookupAnswer {
  CallId call;
  bool found = false;
  DocumentNumber document;
  // With most_terms 0.
  FetchedDocument shown;
  std::string text;
  std::string facets_json;  // an object of arrays of strings
  // Otherwise, heaviest first.
  std::vector<std::string> terms;
  std::vector<std::uint32_t> counts;  // one for each term
  Load load;
  std::string fault{};
};

// A call that failed as a whole: of every kind but searches and facets.
struct CallFailure {
  CallId call;
  FailureReason reason = FailureReason::failed;
  std::string detail;
  std::string fault{};
};

using Message =
    std::variant<Hello, SearchCall, PartitionAnswer, PartitionFailure, Cancel, FetchCall, FetchAnswer, CallFailure,
                 SnippetCall, SnippetAnswer, FacetCall, FacetAnswer, SpellCall, SpellAnswer, LookupCall, LookupAnswer,
                 TieStarted>;

}  // namespace hedgerow::wire
