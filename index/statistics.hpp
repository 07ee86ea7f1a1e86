// Collection statistics: in how many documents of the whole collection, and in which partitions, a term stands.
//
// A small Xapian database beside the partitions: a document per partition, a term's wdf in it being that partition's
// document frequency. Owned by one thread (Xapian handles are not shared).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

class CollectionStatistics {
 public:
  // Errors: not_found, corrupt, io.
  static result<CollectionStatistics> open(const std::filesystem::path& directory, const Manifest& manifest);
  CollectionStatistics(CollectionStatistics&&) noexcept;
  CollectionStatistics& operator=(CollectionStatistics&&) noexcept;
  ~CollectionStatistics();

  std::uint32_t document_frequency(const std::string& term) const;
  // The partitions that hold the term, with the term's document frequency in each, in rising order.
  std::vector<std::pair<PartitionId, std::uint32_t>> partitions_of(const std::string& term) const;

  std::uint64_t documents() const;
  double average_length() const;
  Generation generation() const;
  const std::string& stemmer() const;

 private:
  struct Implementation;
  explicit CollectionStatistics(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hedgerow
