// The command line of `hedgerow-lab sweep`.
#pragma once

#include <CLI/CLI.hpp>

#include "lab/sweep/sweep_command.hpp"

namespace hedgerow::lab::sweep {

// Adds the subcommand; what is read goes into `settings`, and the exit status into `status` when it has run. Both must
// outlive the parsing.
void add_sweep(CLI::App& app, SweepSettings& settings, int& status);

}  // namespace hedgerow::lab::sweep
