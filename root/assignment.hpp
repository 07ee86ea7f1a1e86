// Which partitions a query asks, and which leaves hold them. Pure.
//
// With a fan-out width below all, the query's hash picks the partitions: the same query asks the same ones each time, and
// different queries spread over all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.hpp"

namespace hedgerow::root {

// For every partition of the index the leaves that hold it, in the topology's order.
using Replicas = std::vector<std::vector<LeafId>>;

struct Assignment {
  struct Asked {
    PartitionId partition;
    std::vector<LeafId> replicas;
  };
  std::vector<Asked> asked;             // in partition order
  std::vector<PartitionId> not_asked;   // beyond the fan-out width
  std::vector<PartitionId> unassigned;  // wanted, but the topology has no leaf for them
};

Assignment assign(const Replicas& replicas, std::optional<std::uint32_t> width, std::uint64_t query_hash);

}  // namespace hedgerow::root
