// Writes the spelling dictionary from finished collection statistics: what SpellingDictionary reads.
//
// Throws what the engine throws; build_index translates.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "index/database_label.hpp"

namespace hedgerow {

// The words of the dictionary: those of the statistics that are is_spelling_word and stand in at least so many
// documents that there are no more than most_spelling_words. The time of a suggestion grows with their number.
inline constexpr std::uint64_t most_spelling_words = 200'000;
Xapian::doccount smallest_spelling_frequency(const Xapian::Database& statistics,
                                             std::uint64_t most_words = most_spelling_words);

// statistics: the finished file. Works in the folder scratch, which must not exist and is removed. Changes are written
// out whenever they hold more than about memory_bytes. Returns the file's SHA-256.
std::string write_spelling(const std::filesystem::path& statistics, const std::filesystem::path& file,
                           const std::filesystem::path& scratch, const DatabaseLabel& label,
                           std::uint64_t memory_bytes);

}  // namespace hedgerow
