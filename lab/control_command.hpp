// `hedgerow-lab ps|stop|continue|kill|terminate|restart|start`: the control API of a running cluster, from a shell.
#pragma once

#include <filesystem>
#include <string>

namespace hedgerow::lab {

struct ControlSettings {
  std::filesystem::path cluster;  // the cluster file, or the state directory that holds it
  std::string process;            // "leaf-0", "root"; unused by ps
  bool json = false;              // JSON even on a terminal
};

// Each returns the exit status.
int run_ps(const ControlSettings& settings);
// action is a word of the control API: "stop", "continue", …
int run_action(const ControlSettings& settings, const std::string& action);

}  // namespace hedgerow::lab
