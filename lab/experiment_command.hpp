// `hedgerow-lab experiment NAME`: a question with a known answer, asked of our policies; the verdict is the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hedgerow::lab {

struct ExperimentSettings {
  std::string name;  // hedged, tied
  bool simulated = false;
  std::uint64_t seed = 1;
  std::optional<std::uint64_t> queries;  // none: as many as the experiment is for
  bool json = false;
};

// Returns the exit status: 0 it agrees, 1 it does not, 2 there is no such experiment.
int run_experiment(const ExperimentSettings& settings);

}  // namespace hedgerow::lab
