// An advice as a page that stands alone, with its pictures; and the pictures alone, for documents. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/advise/advice.hpp"
#include "lab/advise/advice_check.hpp"
#include "lab/advise/hedged_run.hpp"
#include "lab/report/chart.hpp"
#include "lab/report/page.hpp"

namespace hedgerow::lab {

// Latencies of queries with and without; completeness over the deadline; the target over the budget; the target over the
// load, where there is one. Those that have anything to show.
std::vector<report::Chart> advice_charts(const AdviceQuestion& question, const Advice& advice);

// What the advice was held against; none where it was not.
struct HeldAgainst {
  std::optional<AdviceCheck> simulator = std::nullopt;
  std::optional<HedgedRunCheck> run = std::nullopt;
};

// command: by which it is made again.
report::Page advice_page(const AdviceQuestion& question, const Advice& advice, const HeldAgainst& held_against, const std::string& command);

}  // namespace hedgerow::lab
