// The engine below Hedgerow, without processes, wire or deadline: the same partitions, searched one after another and merged
// by the calling thread. Its rate is what a distributed search of the same partitions cannot exceed on the same cores.
#pragma once

#include <filesystem>
#include <memory>

#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

// Errors: those of LocalSearch::open.
result<std::unique_ptr<Engine>> make_in_process(const std::filesystem::path& index);

}  // namespace hedgerow::peers
