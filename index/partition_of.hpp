// Where a document is: the one thing about placing documents that the root knows as well.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ids.hpp"

namespace hedgerow {

// The partition of a document, by its external id: the same for ever.
PartitionId partition_of(std::string_view id, std::uint32_t partitions);

}  // namespace hedgerow
