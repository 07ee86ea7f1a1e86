// `hedgerow-lab faults`: the injected faults of all leaves of a running cluster, from a shell.
#pragma once

#include <filesystem>
#include <string>

namespace hedgerow::lab {

struct FaultsSettings {
  std::filesystem::path cluster;  // the cluster file, or the state directory that holds it
  // Faults to set, see given_faults and cluster_faults. Empty: only list.
  std::string set;
  bool clear = false;
  bool json = false;  // JSON even on a terminal
};

// The exit status: 0 done, 1 failed, 2 no faults in what was given.
int run_faults(const FaultsSettings& settings);

}  // namespace hedgerow::lab
