// A prepared query rewritten for one partition: only terms that stand there, each with its global weight, and in the
// shape in which the engine's pruning is exact:
//
// - phrases, and whatever else is not a word or a range below an OR, are matched first and take part as lists
//   (MatchListSource);
// - ranges are lists of our own (RangeSource);
// - the guards match the whole query, so that all lists stand together on the front guard and none ends before the last
//   document (see guard.hpp).
#pragma once

#include <xapian.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "index/global_weight.hpp"
#include "index/prepared_query.hpp"

namespace hedgerow {

// How many of a partition's documents match, from document frequencies alone: the same whenever it is asked.
// Exact for the parts that were matched first.
struct MatchBounds {
  double lowest = 0;
  double estimate = 0;  // terms taken as independent, as Xapian does
  double highest = 0;
};

struct PartitionQuery {
  Xapian::Query query;
  MatchBounds matches;  // without the guards
};

// The partition that a query is rewritten for.
struct PartitionView {
  const Xapian::Database& database;
  std::uint32_t documents = 0;  // without the guards
  std::uint64_t collection_documents = 0;
  const std::atomic<bool>* stop = nullptr;  // ends what scores nothing, too, by MatchStopped; may be null
};

// Ends a match that computes no weights, at every document that matches, by MatchStopped. stop may be null.
class Stopper final : public Xapian::MatchDecider {
 public:
  explicit Stopper(const std::atomic<bool>* stop) : stop_(stop) {}
  bool operator()(const Xapian::Document&) const override {
    if (stop_ != nullptr && stop_->load(std::memory_order_relaxed)) throw MatchStopped{};
    return true;
  }

 private:
  const std::atomic<bool>* stop_;
};

// Whether a document may match with a score of 0, and whether every document that matches does.
bool may_score_nothing(const QueryNode& node);
bool never_scores(const QueryNode& node);

// The same matches, none of them with a score: what is only welcome is left out. For a match without weights.
std::optional<PartitionQuery> rewrite_unscored(const PreparedQuery::Implementation& prepared,
                                               const PartitionView& partition);

// Nothing if no document of the partition can match. weight is the one that the query will run with. Throws what the
// engine and the weight throw.
std::optional<PartitionQuery> rewrite_for_partition(const PreparedQuery::Implementation& prepared,
                                                    const PartitionView& partition, const Xapian::Weight& weight);

}  // namespace hedgerow
