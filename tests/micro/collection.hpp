// The index that the benchmarks search: a made-up collection in one partition, as large as one of sixteen of the Debian
// catalogue. The same bytes in every build.
#pragma once

#include <filesystem>
#include <string_view>

#include "index/query.hpp"
#include "index/statistics.hpp"

namespace hedgerow::micro {

inline constexpr std::uint64_t collection_seed = 1;
inline constexpr std::uint32_t collection_documents = 4000;

// Into a directory that is empty or does not exist. Throws where that fails.
void build_collection(const std::filesystem::path& index);

// Of a collection that was built there.
CollectionStatistics open_statistics(const std::filesystem::path& index);
QueryPlan planned(std::string_view text, const std::filesystem::path& index);

// Queries of it. Among words drawn as in English text these are the 200th; the 30th, 300th and 1,500th; two that stand side
// by side in many documents; a beginning of hundreds of words.
std::string one_word();
std::string three_words();
std::string phrase();
std::string prefix();

}  // namespace hedgerow::micro
