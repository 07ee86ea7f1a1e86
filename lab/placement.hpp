// Which leaf holds which partitions: every partition on as many leaves as it has replicas. Pure.
//
// The load is level (leaves differ by at most one partition), the copies of a partition are on different leaves, and a
// leaf shares its partitions with as many other leaves as possible: when it is slow or gone, what it held is asked of
// many others, a little of each, and not all of one neighbour.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.hpp"
#include "base/ids.hpp"

namespace hedgerow::lab {

// The partitions of each leaf, in rising order.
using Placement = std::vector<std::vector<PartitionId>>;

// Errors: invalid_argument, for no leaf, no replica, more replicas than leaves, or a leaf that would hold nothing.
result<Placement> place_partitions(std::size_t partitions, std::size_t replicas, std::size_t leaves);

}  // namespace hedgerow::lab
