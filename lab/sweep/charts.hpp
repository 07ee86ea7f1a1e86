// A sweep's figures as charts: what is gained (completeness, recall, nDCG) against what it costs (latency), the frontier, and
// the latency curves. One sweep, or two of which the second is drawn dashed in the same colours. Pure.
#pragma once

#include <string>
#include <vector>

#include "lab/report/chart.hpp"
#include "lab/sweep/summary.hpp"

namespace hedgerow::lab::sweep {

struct Side {
  const SweepResults* results;
  std::string name;  // "A"; empty where there is only one
};

// The values that the sides' points have, in the order in which they come.
std::vector<std::string> fault_names(const std::vector<Side>& sides);

// The latency that charts are drawn over: p99, or where no point has so many answers, p90 or p50.
const Measure& charted_latency(const std::vector<Side>& sides);
// Of completeness, recall and nDCG those that were measured.
std::vector<const Measure*> charted_gains(const std::vector<Side>& sides);

// With these faults: a line for each policy and width through its deadlines. As many charts as it takes for the lines to be
// told apart: one, or one for each width. With one side also the frontier of what is in the chart.
std::vector<report::Chart> gain_charts(const std::vector<Side>& sides, const std::string& faults, const Measure& latency, const Measure& gain);

// With these faults, a chart for each width: a curve for each policy, at each deadline where that is not too much, or else at
// the longest.
std::vector<report::Chart> latency_charts(const std::vector<Side>& sides, const std::string& faults);

}  // namespace hedgerow::lab::sweep
