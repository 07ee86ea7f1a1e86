// The whole index searched in one process, partition after partition: the reference that every distributed answer is
// compared with.
//
// Owned by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "index/facets.hpp"
#include "index/manifest.hpp"
#include "index/query.hpp"
#include "index/searcher.hpp"
#include "index/snippets.hpp"
#include "index/statistics.hpp"

namespace hedgerow {

struct LocalHit {
  ScoredDocument scored;
  PartitionId partition;
};

// What LocalSearch answers.
struct LocalAnswer {
  std::optional<PreparedQuery> query;  // of every answer: as the partitions ran it
  std::vector<LocalHit> hits;  // ranks offset + 1 to offset + k, in ranks_before order
  std::uint64_t matches = 0;
  bool matches_exact = false;
  std::vector<std::string> notes;  // of the plan
};

class LocalSearch {
 public:
  // What the settings point to must outlive the search.
  // Errors: those of read_manifest, CollectionStatistics::open and PartitionSearcher::open.
  static result<LocalSearch> open(const std::filesystem::path& directory, const PlanSettings& settings = {});

  // Errors: those of plan_query; too_large (offset + k beyond deepest_rank); corrupt or io from the engine.
  result<LocalAnswer> search(std::string_view query, std::uint32_t k, std::uint32_t offset = 0);
  // The documents that are like the one with this external id, without itself. Errors: not_found (no such document);
  // otherwise as search.
  result<LocalAnswer> search_similar(std::string_view id, std::uint32_t k, std::uint32_t offset = 0);
  // The documents of the hits, in their order.
  result<std::vector<StoredDocument>> fetch(const std::vector<LocalHit>& hits);
  // What a list of hits shows of them, in their order, at a part of the cost.
  result<std::vector<ShownDocument>> fetch_shown(const std::vector<LocalHit>& hits);
  // The passages that the answer's hits match by, in their order. Errors: corrupt or io from the engine.
  result<std::vector<std::string>> snippets(const LocalAnswer& answer, const SnippetSettings& settings = {}) const;
  // Of every facet named, in their order, over all documents that match the answer's query. Errors: as snippets.
  result<std::vector<FacetCounts>> facets(const LocalAnswer& answer, const std::vector<std::string>& names,
                                          const FacetSettings& settings = {}) const;

  const Manifest& manifest() const { return manifest_; }
  const CollectionStatistics& statistics() const { return statistics_; }

  static constexpr std::uint32_t deepest_rank = 1'000'000;

 private:
  LocalSearch(Manifest manifest, CollectionStatistics statistics, std::vector<PartitionSearcher> partitions,
              const PlanSettings& settings);
  result<LocalAnswer> run(const QueryPlan& plan, std::uint32_t k, std::uint32_t offset);

  Manifest manifest_;
  CollectionStatistics statistics_;
  PlanSettings settings_;
  std::vector<PartitionSearcher> partitions_;
};

}  // namespace hedgerow
