#include "index/statistics.hpp"

#include <xapian.h>

#include <algorithm>

#include "index/database_label.hpp"
#include "index/engine_error.hpp"
#include "index/query_tree.hpp"

namespace hedgerow {

struct CollectionStatistics::Implementation {
  Xapian::Database database;
  std::uint64_t documents = 0;
  double average_length = 0;
  Generation generation;
  std::string stemmer;
  std::vector<FacetField> facets;
};

CollectionStatistics::CollectionStatistics(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
CollectionStatistics::CollectionStatistics(CollectionStatistics&&) noexcept = default;
CollectionStatistics& CollectionStatistics::operator=(CollectionStatistics&&) noexcept = default;
CollectionStatistics::~CollectionStatistics() = default;

result<CollectionStatistics> CollectionStatistics::open(const std::filesystem::path& directory,
                                                        const Manifest& manifest) {
  auto database = open_labelled(directory / manifest.statistics_file,
                                {.kind = "statistics",
                                 .generation = manifest.generation,
                                 .number = static_cast<std::uint32_t>(manifest.partitions.size()),
                                 .documents = manifest.documents});
  if (!database) return database.error();
  auto implementation = std::make_unique<Implementation>();
  implementation->database = std::move(*database);
  implementation->documents = manifest.documents;
  implementation->average_length = manifest.average_length();
  implementation->generation = manifest.generation;
  implementation->stemmer = manifest.stemmer;
  implementation->facets = manifest.facets;
  return CollectionStatistics(std::move(implementation));
}

std::uint32_t CollectionStatistics::document_frequency(const std::string& term) const {
  if (term.empty() || term.size() > longest_term_bytes) return 0;
  return implementation_->database.get_collection_freq(term);
}

std::vector<std::pair<PartitionId, std::uint32_t>> CollectionStatistics::partitions_of(const std::string& term) const {
  std::vector<std::pair<PartitionId, std::uint32_t>> partitions;
  if (term.empty() || term.size() > longest_term_bytes) return partitions;
  const auto end = implementation_->database.postlist_end(term);
  for (auto posting = implementation_->database.postlist_begin(term); posting != end; ++posting) {
    partitions.emplace_back(PartitionId{*posting - 1}, posting.get_wdf());
  }
  return partitions;
}

PrefixExpansion CollectionStatistics::expand_prefix(const std::string& prefix, std::size_t most,
                                                    std::size_t most_seen) const {
  PrefixExpansion expansion;
  if (prefix.size() > longest_term_bytes) return expansion;
  const Xapian::Database& database = implementation_->database;
  const auto end = database.allterms_end(prefix);
  for (auto term = database.allterms_begin(prefix); term != end; ++term) {
    if (expansion.seen == most_seen) {
      expansion.all_seen = false;
      break;
    }
    ++expansion.seen;
    // What the iterator knows is the number of partitions.
    expansion.terms.emplace_back(*term, database.get_collection_freq(*term));
  }
  const auto kept = std::min(most, expansion.terms.size());
  std::partial_sort(expansion.terms.begin(), expansion.terms.begin() + static_cast<std::ptrdiff_t>(kept),
                    expansion.terms.end(), [](const auto& a, const auto& b) {
                      return a.second != b.second ? a.second > b.second : a.first < b.first;
                    });
  expansion.terms.resize(kept);
  return expansion;
}

const std::vector<FacetField>& CollectionStatistics::facets() const { return implementation_->facets; }
const Xapian::Database& CollectionStatistics::database() const { return implementation_->database; }

std::uint64_t CollectionStatistics::documents() const { return implementation_->documents; }
double CollectionStatistics::average_length() const { return implementation_->average_length; }
Generation CollectionStatistics::generation() const { return implementation_->generation; }
const std::string& CollectionStatistics::stemmer() const { return implementation_->stemmer; }

}  // namespace hedgerow
