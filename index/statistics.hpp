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

namespace Xapian {
class Database;
}

namespace hedgerow {

// The words that a prefix stands for.
struct PrefixExpansion {
  // The most frequent ones, in falling order of document frequency; ties by bytes.
  std::vector<std::pair<std::string, std::uint32_t>> terms;
  std::size_t seen = 0;      // how many begin so, as far as was looked
  bool all_seen = true;      // false: there were more than were looked at, and the later ones by bytes were not
};

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

  // The terms that begin with the prefix; at most `most` of them, and at most `most_seen` are looked at (some 0.2 µs
  // for each).
  PrefixExpansion expand_prefix(const std::string& prefix, std::size_t most, std::size_t most_seen) const;

  // The facets of the collection, by name.
  const std::vector<FacetField>& facets() const;

  // For the query parser, which asks whether "c++" is a word.
  const Xapian::Database& database() const;

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
