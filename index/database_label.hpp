// A label inside every database of the index, by which it shows that it is the file that the manifest means.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace hedgerow {

// Kept as Xapian metadata. kind is "partition", "statistics" or "spelling".
struct DatabaseLabel {
  std::string kind;
  Generation generation;
  std::uint32_t number = 0;       // of a partition, its number; of the others, how many partitions
  std::uint64_t documents = 0;    // of the whole collection
  friend bool operator==(const DatabaseLabel&, const DatabaseLabel&) = default;
};

void write_label(Xapian::WritableDatabase& database, const DatabaseLabel& label);

// Opens a database read-only and compares its label. Errors: not_found, corrupt (also: another label), io.
result<Xapian::Database> open_labelled(const std::filesystem::path& file, const DatabaseLabel& expected);

}  // namespace hedgerow
