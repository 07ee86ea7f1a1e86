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

namespace hedgerow {

struct PartitionInfo {
  std::string file;  // relative to the index directory
  std::uint32_t documents = 0;      // without the guard document
  std::uint64_t total_length = 0;   // sum of document lengths in terms, without the guard
  std::string sha256;
};

struct Manifest {
  static constexpr int format_version = 1;
  std::string collection;
  Generation generation;
  std::string stemmer;  // a Xapian stemmer language, "english"
  std::vector<PartitionInfo> partitions;
  std::string statistics_file;  // relative to the index directory
  std::string statistics_sha256;
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
