// One query on one partition: the work of a leaf.
//
// A PartitionSearcher owns its Xapian handle and belongs to one thread at a time; opening one is cheap enough to have one
// per worker. Scores are global: the same document gets the same score however the collection is cut.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/manifest.hpp"
#include "index/query.hpp"
#include "index/ranking.hpp"
#include "index/stored_document.hpp"

namespace hedgerow {

struct PartitionHits {
  std::vector<ScoredDocument> hits;  // at most k, in ranks_before order
  // How many documents of the partition match. Exact if fewer than k do and no threshold was given, if few can, or if
  // document frequencies alone tell; otherwise an estimate from document frequencies, whatever k and the threshold: it
  // may be below the number of hits, so whoever sums up lifts the sum to what is shown.
  std::uint64_t matches = 0;
  bool matches_exact = false;
};

// A plan as received from elsewhere, checked and ready to run: bounded in size, depth and terms before Xapian touches it.
class PreparedQuery {
 public:
  // Errors: too_large, protocol (cannot be deserialised, or holds operators that plan_query never makes).
  static result<PreparedQuery> prepare(const QueryPlan& plan);
  PreparedQuery(const PreparedQuery&);
  PreparedQuery(PreparedQuery&&) noexcept;
  PreparedQuery& operator=(PreparedQuery&&) noexcept;
  ~PreparedQuery();

  // At most so many postings are read for it in a collection of which `share` is searched: for each term those of all of its
  // documents, those of phrases and nearness ten times, as their positions are read too; for a range every document.
  double postings(double share) const;

  struct Implementation;
  const Implementation& implementation() const { return *implementation_; }

 private:
  explicit PreparedQuery(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

class PartitionSearcher {
 public:
  // Errors: not_found, corrupt, io.
  static result<PartitionSearcher> open(const std::filesystem::path& directory, const Manifest& manifest,
                                        PartitionId partition);
  PartitionSearcher(PartitionSearcher&&) noexcept;
  PartitionSearcher& operator=(PartitionSearcher&&) noexcept;
  ~PartitionSearcher();

  // The best k hits with global scores. A score threshold above 0 lets hits that rank below it be left out (it is a score
  // that k hits elsewhere reach already). *stop is read at every document that is scored or matches, and at every value
  // that a range looks at; once true, the match ends with cancelled, the searcher stays usable. stop may be null.
  // Errors: cancelled; corrupt or io from the engine.
  result<PartitionHits> search(const PreparedQuery& query, std::uint32_t k, double score_threshold,
                               const std::atomic<bool>* stop);

  // Documents by number. Errors: not_found (also for the guard), corrupt.
  result<std::vector<StoredDocument>> fetch(const std::vector<DocumentNumber>& documents);
  // What a list of hits shows of one, at a part of the cost. Errors: likewise.
  result<ShownDocument> fetch_shown(DocumentNumber document);

  std::uint32_t documents() const;

  // For the other works of a leaf on a partition (snippets, facets, lookup).
  struct Implementation;
  const Implementation& implementation() const { return *implementation_; }

 private:
  explicit PartitionSearcher(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hedgerow
