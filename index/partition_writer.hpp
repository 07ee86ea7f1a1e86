// Writes one partition: documents in rising order of their numbers, then the guards, then one compact file.
//
// Owned by one thread at a time. Throws what the engine throws; build_index translates.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <filesystem>

#include "base/ids.hpp"
#include "index/database_label.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

class PartitionWriter {
 public:
  // Works in the folder scratch, which must not exist; changes are written out whenever they hold more than
  // memory_bytes.
  PartitionWriter(std::filesystem::path scratch, std::uint64_t memory_bytes);

  // Numbers rise from call to call.
  void add(DocumentNumber number, const Xapian::Document& document);

  // Adds the guards and writes the partition to file, synced, with its checksum; removes the scratch folder.
  // Nothing may be called afterwards. The file's name in the result is left to the caller. Throws std::runtime_error
  // with the context when the file cannot be synced or read back.
  PartitionInfo finish(const std::filesystem::path& file, const DatabaseLabel& label);

 private:
  std::filesystem::path scratch_;
  std::uint64_t memory_bytes_;
  std::uint64_t held_bytes_ = 0;
  Xapian::WritableDatabase database_;
};

// Compacts a database into one file with the docids it has, syncs it, and returns its SHA-256. Throws as finish.
std::string compact_to_file(Xapian::Database& database, const std::filesystem::path& file);

}  // namespace hedgerow
