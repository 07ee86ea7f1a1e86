// Writes the collection statistics from finished partitions: what CollectionStatistics reads.
//
// Throws what the engine throws; build_index translates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "index/database_label.hpp"

namespace hedgerow {

// Whether the statistics hold a term of a partition: neither the guards' marker nor the id of a document, which would
// double them and tell nothing.
bool is_described(std::string_view term);

// partitions: the finished files, in order. Works in the folder scratch, which must not exist and is removed. Changes
// are written out whenever they hold more than about memory_bytes. Returns the file's SHA-256.
std::string write_statistics(const std::vector<std::filesystem::path>& partitions, const std::filesystem::path& file,
                             const std::filesystem::path& scratch, const DatabaseLabel& label,
                             std::uint64_t memory_bytes);

}  // namespace hedgerow
