// Writes the spelling dictionary from finished collection statistics: what SpellingDictionary reads.
//
// Throws what the engine throws; build_index translates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "index/database_label.hpp"

namespace hedgerow {

// Whether a term of the index is a word that somebody may have meant to type: no field, no stem, 3 to 32 characters,
// with letters in the majority, none of them of a script that is indexed by characters (Chinese, Japanese, Korean).
bool is_spelling_word(std::string_view term);

// statistics: the finished file. Works in the folder scratch, which must not exist and is removed. Changes are written
// out whenever they hold more than about memory_bytes. Returns the file's SHA-256.
std::string write_spelling(const std::filesystem::path& statistics, const std::filesystem::path& file,
                           const std::filesystem::path& scratch, const DatabaseLabel& label,
                           std::uint64_t memory_bytes);

}  // namespace hedgerow
