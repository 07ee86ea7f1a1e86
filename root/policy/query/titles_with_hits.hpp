// How many of each partition's first hits bring their titles and urls along, so that nobody need fetch them. Pure.
//
// Intuition: where a hit was found its document is at hand, and reading it costs a microsecond or two; fetching it when the
// hits are final costs a round trip, and more of both processes' time than reading a few documents for nothing. So a hit
// brings its title where it is likely enough to be one of the answer's.
//
// A document's partition is drawn by a hash of its id, so of the best k hits of n equal partitions each holds
// Binomial(k, 1/n), and its r-th hit is among them with the chance Pr(Binomial(k, 1/n) >= r).
#pragma once

#include <cstddef>
#include <cstdint>

namespace hedgerow::policy {

// No partition reads more documents than this before it answers: where more would be needed, all are fetched afterwards.
inline constexpr std::uint32_t most_titles_with_hits = 16;

// The largest r whose chance is at least least_chance, for the best k hits of so many partitions; 0 where not even the first
// hit's is, where r would be beyond the most, and where the hits shown are not the first (offset > 0).
std::uint32_t titles_with_hits(std::uint32_t offset, std::uint32_t k, std::size_t partitions, double least_chance);

}  // namespace hedgerow::policy
