// What a load came to, as the figures of a sweep's run. Pure.
#pragma once

#include "lab/load_report.hpp"
#include "lab/sweep/figures.hpp"

namespace hedgerow::lab::sweep {

Figures figures_of(const LoadFrame& frame, const LoadReport& report);

}  // namespace hedgerow::lab::sweep
