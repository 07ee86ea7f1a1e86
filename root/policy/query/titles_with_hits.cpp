#include "root/policy/query/titles_with_hits.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow::policy {

std::uint32_t titles_with_hits(std::uint32_t offset, std::uint32_t k, std::size_t partitions, double least_chance) {
  if (offset > 0 || partitions == 0 || least_chance > 1) return 0;
  if (partitions == 1) return k <= most_titles_with_hits ? k : 0;  // it has all of them
  const double share = 1 / static_cast<double>(partitions);
  // Pr(exactly r), from r = 0 upwards; what is left is Pr(more than r).
  double exactly = std::pow(1 - share, k), more = 1 - exactly;
  for (std::uint32_t r = 0; r <= most_titles_with_hits; ++r) {
    if (r == k || more < least_chance) return r;
    exactly *= static_cast<double>(k - r) / (r + 1) * share / (1 - share);
    more = std::max(0.0, more - exactly);
  }
  return 0;
}

}  // namespace hedgerow::policy
