// `hedgerow-lab up`: a cluster on this machine for as long as the command runs.
//
// Whatever ends it (Ctrl-C, SIGTERM, an error, SIGKILL), no process of the cluster stays behind.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"

namespace hedgerow::lab {

struct UpSettings {
  // The index directory that `hedgerow-index build` wrote.
  std::filesystem::path index;
  // Leaf processes, and copies of each partition, each on another leaf.
  std::size_t leaves = 8;
  std::size_t replicas = 2;
  // So many leaves serve spelling beside their partitions; two, or all where there are fewer, when not given.
  std::optional<std::size_t> spellers;
  // The root's port on 127.0.0.1; 0: any free one.
  std::uint16_t port = 7080;
  // The control API's port on 127.0.0.1; 0: any free one.
  std::uint16_t control_port = 0;
  // Worker threads of each leaf; the leaf's own default where not given.
  std::optional<unsigned> workers;
  // Leaves take injected faults.
  bool allow_faults = false;
  // Faults that the leaves have from the start, which allows them; see given_faults and cluster_faults. Empty: none.
  std::string faults;
  // Handed to every leaf and to the root as they are, behind what `up` itself passes: "--link-idle-time=30s".
  std::vector<std::string> leaf_arguments, root_arguments;
  // Where the cluster file, the topology and the logs go. By default a fresh directory below $XDG_RUNTIME_DIR or the temporary one,
  // which is removed in the end when nothing went wrong.
  std::optional<std::filesystem::path> state;
  // Where hedgerow-leaf and hedgerow-root are; by default beside this program.
  std::optional<std::filesystem::path> bin_dir;
  std::string log_level = "info";
  // How long the whole start may take.
  Duration start_time = std::chrono::seconds(60);
  // Asked once each; then the cluster ends. The answers' bodies go to standard output, all else to standard error.
  std::vector<std::string> queries;
};

// Returns the exit status: 0 when it was ended by a signal, or every query was answered with 200.
int run_up(const UpSettings& settings);

}  // namespace hedgerow::lab
