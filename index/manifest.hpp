// The manifest: what an index directory holds, and the checksums that prove it.
//
// DIR/manifest.json is the one file that publishes a build: it is replaced by an atomic rename, names the generation's
// own folder (DIR/generation-N/partition-NNNN, DIR/generation-N/statistics), and whoever has read it can go on using
// that folder until the generation after the next is published.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"
#include "index/fields.hpp"
#include "index/scoring.hpp"

namespace hedgerow {

struct PartitionInfo {
  std::string file;  // relative to the index directory
  std::uint32_t documents = 0;      // without the guard document
  std::uint64_t total_length = 0;   // sum of document lengths in terms, without the guard
  std::string sha256;
};

// A facet of the collection: what the field "NAME:" of a query refers to.
struct FacetField {
  std::string name;
  // number or date where every document's first value is one: then the field takes ranges.
  fields::ValueKind kind = fields::ValueKind::category;
  std::uint32_t documents = 0;  // that have it
};

struct Manifest {
  static constexpr int format_version = 3;
  static constexpr std::uint32_t most_title_weight = 100;
  // Each facet costs two value slots in every partition; a collection with more has taken something else for facets.
  static constexpr std::size_t most_facets = 256;
  std::string collection;
  Generation generation;
  std::string stemmer;  // a Xapian stemmer language, "english"
  std::vector<PartitionInfo> partitions;
  std::string statistics_file;  // relative to the index directory
  std::string statistics_sha256;
  std::string spelling_file;  // relative to the index directory
  std::string spelling_sha256;
  std::vector<FacetField> facets;  // by name
  // How documents are scored: the same for every leaf and root of a generation.
  Bm25Parameters bm25;
  std::uint32_t title_weight = 1;  // how often a word of the title counts, from 1 to most_title_weight
  std::uint64_t documents = 0;
  std::uint64_t total_length = 0;

  double average_length() const {
    return documents == 0 ? 0 : static_cast<double>(total_length) / static_cast<double>(documents);
  }
};

// Errors: not_found (no index there), corrupt (names the field), unsupported (another format version).
result<Manifest> read_manifest(const std::filesystem::path& directory);

// The text of manifest.json, and back. Errors as read_manifest, without not_found.
std::string manifest_to_json(const Manifest& manifest);
result<Manifest> manifest_from_json(const std::string& text);

}  // namespace hedgerow
