// The command line of `hedgerow-lab load`.
#pragma once

#include <CLI/CLI.hpp>

#include "lab/load_command.hpp"

namespace hedgerow::lab {

// Adds the subcommand; what is read goes into `command`, and the exit status into `status` when it has run. Both must outlive
// the parsing.
void add_load(CLI::App& app, LoadCommand& command, int& status);

// "name=value", for options that take a query's parameters.
std::string name_and_value(const std::string& text);

}  // namespace hedgerow::lab
