// The comparison as Markdown, for docs/performance.md and for whoever waits at a terminal. Pure.
#pragma once

#include <string>
#include <vector>

#include "tests/peers/results.hpp"

namespace hedgerow::peers {

// A list of the facts (the machine, versions), a table for each part of the benchmark that has results, and what failed and
// why. Figures are medians over the rounds.
std::string comparison_markdown(const Results& results, const std::vector<std::string>& facts);

}  // namespace hedgerow::peers
