// `hedgerow-lab replay`: plays a root's recording (--record) through the policies again, and says where they decide
// otherwise.
#pragma once

#include <filesystem>

namespace hedgerow::lab {

struct ReplaySettings {
  std::filesystem::path file;
  bool json = false;
};

// The exit status: 0 where every decision was the same, 1 where one differs, 2 where the file cannot be read.
int run_replay(const ReplaySettings& settings);

}  // namespace hedgerow::lab
