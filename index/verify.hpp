// Checks that an index is whole: every checksum, every count, the guards, that each document is in its partition and
// found by its id, and the statistics and the spelling dictionary against the partitions.
//
// The engine's own check of its structures (Xapian::Database::check) is not run: a checksum taken when the file was
// written says more, and 1.4.22's deletes an object as another type (AddressSanitizer stops it).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace hedgerow {

struct VerifyReport {
  std::vector<std::string> problems;  // one sentence each, naming the file; none: the index is whole
  std::uint64_t generation = 0;
  std::uint32_t partitions = 0;
  std::uint64_t documents = 0;
  std::uint64_t terms = 0;  // distinct ones
};

// Goes on after a problem, to name them all; a file with a wrong checksum is not opened. checking is called with the
// name of each file before it is read.
// Errors: those of read_manifest (there is nothing to check against then).
result<VerifyReport> verify_index(const std::filesystem::path& directory,
                                  const std::function<void(const std::string&)>& checking = [](const std::string&) {});

}  // namespace hedgerow
