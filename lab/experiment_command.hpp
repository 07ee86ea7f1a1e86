// `hedgerow-lab experiment NAME`: a question with a known answer, asked of the simulated policies or of a real cluster on
// this machine; the verdict is the exit status.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace hedgerow::lab {

struct ExperimentSettings {
  std::string name;   // empty: only with list
  bool list = false;  // tell which there are
  bool live = false;  // with real processes; otherwise in virtual time
  bool simulated = false;  // said, which changes nothing
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> queries;  // of each simulated run; none: as many as the experiment is for
  double time_scale = 1;                 // of live loads
  std::optional<std::filesystem::path> bin_dir;  // where the programs are; by default beside this one
  std::string corpus;
  std::filesystem::path test_queries, qrels;
  bool json = false;
  std::filesystem::path html;      // a page is written here
  std::filesystem::path pictures;  // each chart as SVG into this directory
  std::filesystem::path markdown;  // its tables and verdict, for a document beside the directory of pictures
  std::string command_line;        // as it was called: reports say how they were made
};

// The names, for the command line.
std::vector<std::string> experiment_names();

// Returns the exit status: 0 it agrees, 1 it differs (and says where), 2 it could not be run.
int run_experiment(const ExperimentSettings& settings);

}  // namespace hedgerow::lab
