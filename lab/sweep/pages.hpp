// A sweep's report.html, and that of two sweeps laid over each other; and the same for a terminal. Pure.
#pragma once

#include <string>
#include <vector>

#include "lab/report/page.hpp"
#include "lab/sweep/comparison.hpp"

namespace hedgerow::lab::sweep {

// notes: what the reader should know beside. made: how and when, for the page's foot.
report::Page sweep_page(const SweepResults& results, const std::vector<std::string>& notes, const std::string& made);
report::Page comparison_page(const SweepResults& a, const SweepResults& b, const Comparison& comparison, const std::string& name_a,
                             const std::string& name_b, const std::string& made);

// A line for each point.
std::string to_text(const SweepResults& results);

// What speaks against trusting the figures: runs that are missing, loads that did not keep up, single repetitions, queries that
// failed. A sentence each; empty: nothing.
std::vector<std::string> doubts(const SweepResults& results);

}  // namespace hedgerow::lab::sweep
