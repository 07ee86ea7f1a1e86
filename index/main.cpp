// hedgerow-index: builds, searches, checks and describes an index.
#include "index/commands.hpp"

int main(int argc, char** argv) { return hedgerow::run_index_command(argc, argv); }
