// `hedgerow-lab load` around Load: progress on a terminal, Ctrl-C that still reports, and the report as text or JSON.
#pragma once

#include "lab/load.hpp"

namespace hedgerow::lab {

// Returns the exit status: 0 when the load ran and at least one query was answered with 200.
int run_load(LoadSettings settings, bool json);

}  // namespace hedgerow::lab
