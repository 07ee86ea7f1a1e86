// The command line of hedgerow-index.
#pragma once

namespace hedgerow {

// Returns the exit code: 0 all is well, 1 a failure (told in one line on standard error), 2 bad arguments.
int run_index_command(int argc, char** argv);

}  // namespace hedgerow
