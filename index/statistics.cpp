#include "index/statistics.hpp"

#include <xapian.h>

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

std::uint64_t CollectionStatistics::documents() const { return implementation_->documents; }
double CollectionStatistics::average_length() const { return implementation_->average_length; }
Generation CollectionStatistics::generation() const { return implementation_->generation; }
const std::string& CollectionStatistics::stemmer() const { return implementation_->stemmer; }

}  // namespace hedgerow
