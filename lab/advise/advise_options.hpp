// The command line of `hedgerow-lab advise`.
#pragma once

#include <CLI/CLI.hpp>

#include "lab/advise/advise_command.hpp"

namespace hedgerow::lab {

// Adds the subcommand; what is read goes into `settings`, and the exit status into `status` when it has run. Both must
// outlive the parsing.
void add_advise(CLI::App& app, AdviseSettings& settings, int& status);

}  // namespace hedgerow::lab
