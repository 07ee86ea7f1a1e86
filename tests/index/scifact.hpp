// The SciFact collection, where it is here: text that people wrote, with facets added (EnrichedReader).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "corpus/document.hpp"

namespace hedgerow::test {

// The first documents of it; nothing, and a line that ctest takes for a skipped test, if it is not here.
std::optional<std::vector<Document>> read_scifact(std::size_t documents);

}  // namespace hedgerow::test
