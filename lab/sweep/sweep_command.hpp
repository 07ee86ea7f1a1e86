// `hedgerow-lab sweep`: runs a plan and leaves results.json, results.csv and report.html in a directory; or compares two.
//
// results.json is written as runs end, so that a sweep that was broken off (Ctrl-C, a process that went away) keeps what it
// has, and can be resumed.
#pragma once

#include <filesystem>
#include <vector>

#include "lab/sweep/flags.hpp"

namespace hedgerow::lab::sweep {

struct SweepSettings {
  std::filesystem::path plan;  // a JSON file; empty: flags alone
  PlanFlags flags;
  std::filesystem::path out;   // the directory
  std::filesystem::path pictures;  // a directory for the report's charts as SVG; empty: none
  bool resume = false;         // go on where the results in it end
  std::vector<std::filesystem::path> compare;  // two directories or files, instead of a run
  bool json = false;           // the results (or the comparison) as JSON on standard output
  std::filesystem::path bin_dir;  // where hedgerow-leaf and hedgerow-root are; empty: beside this program
};

// Returns the exit status: 0 every run is there (or the comparison was made), 1 a run failed or was broken off, 2 the
// settings make no sense.
int run_sweep(const SweepSettings& settings);

}  // namespace hedgerow::lab::sweep
