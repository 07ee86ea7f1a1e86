#include "index/local_search.hpp"

#include <algorithm>

#include "index/lookup.hpp"
#include "index/similar_query.hpp"

namespace hedgerow {

LocalSearch::LocalSearch(Manifest manifest, CollectionStatistics statistics, std::vector<PartitionSearcher> partitions,
                         const PlanSettings& settings)
    : manifest_(std::move(manifest)),
      statistics_(std::move(statistics)),
      settings_(settings),
      partitions_(std::move(partitions)) {}

result<LocalSearch> LocalSearch::open(const std::filesystem::path& directory, const PlanSettings& settings) {
  auto manifest = read_manifest(directory);
  if (!manifest) return manifest.error();
  auto statistics = CollectionStatistics::open(directory, *manifest);
  if (!statistics) return statistics.error();
  std::vector<PartitionSearcher> partitions;
  for (std::uint32_t p = 0; p < manifest->partitions.size(); ++p) {
    auto searcher = PartitionSearcher::open(directory, *manifest, PartitionId{p});
    if (!searcher) return searcher.error();
    partitions.push_back(std::move(*searcher));
  }
  return LocalSearch(std::move(*manifest), std::move(*statistics), std::move(partitions), settings);
}

result<LocalAnswer> LocalSearch::search(std::string_view query, std::uint32_t k, std::uint32_t offset) {
  const auto plan = plan_query(query, statistics_, settings_);
  if (!plan) return plan.error();
  return run(*plan, k, offset);
}

result<LocalAnswer> LocalSearch::search_similar(std::string_view id, std::uint32_t k, std::uint32_t offset) {
  const PartitionId home = partition_of(id, static_cast<std::uint32_t>(partitions_.size()));
  const PartitionSearcher& partition = partitions_[home.value];
  const auto document = find_document(partition, id);
  if (!document) return document.error();
  if (!*document) return Error{Errc::not_found, "no document has the id '" + std::string(id) + "'"};
  const auto terms = counted_terms(partition, **document, most_terms_of_similar);
  if (!terms) return terms.error();
  const auto plan = plan_similar(*terms, id, statistics_);
  if (!plan) return plan.error();
  return run(*plan, k, offset);
}

result<LocalAnswer> LocalSearch::run(const QueryPlan& plan, std::uint32_t k, std::uint32_t offset) {
  if (std::uint64_t{k} + offset > deepest_rank) {
    return Error{Errc::too_large, "offset and k reach beyond rank " + std::to_string(deepest_rank)};
  }
  const auto prepared = PreparedQuery::prepare(plan);
  if (!prepared) return prepared.error();

  const std::uint32_t depth = offset + k;
  LocalAnswer answer;
  answer.query.emplace(*prepared);
  answer.notes = plan.notes;
  answer.matches_exact = true;
  double threshold = 0;
  for (std::uint32_t p = 0; p < partitions_.size(); ++p) {
    const auto found = partitions_[p].search(*prepared, depth, threshold, nullptr);
    if (!found) return found.error();
    answer.matches += found->matches;
    answer.matches_exact = answer.matches_exact && found->matches_exact;
    const auto middle = static_cast<std::ptrdiff_t>(answer.hits.size());
    for (const auto& hit : found->hits) answer.hits.push_back({hit, PartitionId{p}});
    std::inplace_merge(answer.hits.begin(), answer.hits.begin() + middle, answer.hits.end(),
                       [](const LocalHit& a, const LocalHit& b) { return ranks_before(a.scored, b.scored); });
    if (answer.hits.size() > depth) answer.hits.resize(depth);
    if (depth > 0 && answer.hits.size() == depth) threshold = answer.hits.back().scored.score;
  }
  answer.matches = std::max<std::uint64_t>(answer.matches, answer.hits.size());
  answer.hits.erase(answer.hits.begin(),
                    answer.hits.begin() + std::min<std::ptrdiff_t>(offset, std::ssize(answer.hits)));
  return answer;
}

result<std::vector<StoredDocument>> LocalSearch::fetch(const std::vector<LocalHit>& hits) {
  std::vector<StoredDocument> documents;
  for (const auto& hit : hits) {
    auto fetched = partitions_[hit.partition.value].fetch({hit.scored.document});
    if (!fetched) return fetched.error();
    documents.push_back(std::move(fetched->front()));
  }
  return documents;
}

result<std::vector<ShownDocument>> LocalSearch::fetch_shown(const std::vector<LocalHit>& hits) {
  std::vector<ShownDocument> documents;
  for (const auto& hit : hits) {
    auto fetched = partitions_[hit.partition.value].fetch_shown(hit.scored.document);
    if (!fetched) return fetched.error();
    documents.push_back(std::move(*fetched));
  }
  return documents;
}

result<std::vector<std::string>> LocalSearch::snippets(const LocalAnswer& answer,
                                                       const SnippetSettings& settings) const {
  std::vector<std::string> snippets;
  for (const auto& hit : answer.hits) {
    auto made =
        make_snippets(partitions_[hit.partition.value], *answer.query, {hit.scored.document}, settings, nullptr);
    if (!made) return made.error();
    snippets.push_back(std::move(made->front()));
  }
  return snippets;
}

result<std::vector<FacetCounts>> LocalSearch::facets(const LocalAnswer& answer, const std::vector<std::string>& names,
                                                     const FacetSettings& settings) const {
  std::vector<FacetCounts> sums(names.size());
  for (const auto& partition : partitions_) {
    const auto counted = count_facets(partition, *answer.query, names, settings, nullptr);
    if (!counted) return counted.error();
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (const auto& [value, documents] : (*counted)[i].counts) sums[i].counts[value] += documents;
      sums[i].cut = sums[i].cut || (*counted)[i].cut;
    }
  }
  return sums;
}

}  // namespace hedgerow
