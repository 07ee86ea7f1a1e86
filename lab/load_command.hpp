// `hedgerow-lab load` around Load: what it is to ask, progress on a terminal, Ctrl-C that still reports, the files, and the
// report as text or JSON.
#pragma once

#include "lab/load_files.hpp"
#include "lab/load_plan.hpp"

namespace hedgerow::lab {

struct LoadCommand {
  LoadPlan plan;
  LoadFileSettings files;
  bool json = false;
};

// Returns the exit status: 0 when the load ran, at least one query was answered with 200, and every file was written; 1
// when not; 2 when nothing could be asked. What the report's reader must not miss is on standard error as well: that the
// load did not keep up, that a file is not whole.
int run_load(const LoadCommand& command);

}  // namespace hedgerow::lab
