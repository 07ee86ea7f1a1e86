#include "root/assignment.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace hedgerow::root {

Assignment assign(const Replicas& replicas, std::optional<std::uint32_t> width, std::uint64_t query_hash) {
  std::vector<std::uint32_t> chosen(replicas.size());
  std::iota(chosen.begin(), chosen.end(), 0U);
  std::vector<bool> wanted(replicas.size(), true);

  if (width && *width < replicas.size()) {
    // A seeded shuffle's first few: every partition with the same chance.
    Random random(query_hash);
    for (std::uint32_t i = 0; i < *width; ++i) {
      std::swap(chosen[i], chosen[i + random.below(chosen.size() - i)]);
    }
    std::fill(wanted.begin(), wanted.end(), false);
    for (std::uint32_t i = 0; i < *width; ++i) wanted[chosen[i]] = true;
  }

  Assignment assignment;
  for (std::uint32_t i = 0; i < replicas.size(); ++i) {
    const PartitionId partition{i};
    if (!wanted[i]) {
      assignment.not_asked.push_back(partition);
    } else if (replicas[i].empty()) {
      assignment.unassigned.push_back(partition);
    } else {
      assignment.asked.push_back({partition, replicas[i]});
    }
  }
  return assignment;
}

}  // namespace hedgerow::root
