// Where the runs of a sweep take place: a cluster of real processes, or virtual time. Each run begins with policies that know
// nothing, so that no run profits from, or suffers from, the one before it.
//
// Owned by the command, used from its one thread; run blocks until the run is over.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lab/sweep/figures.hpp"
#include "lab/sweep/plan.hpp"

namespace hedgerow::lab::sweep {

class Bench {
 public:
  virtual ~Bench() = default;
  // Errors: of the cluster, when a process does not come up or goes away; cancelled, when the user broke it off.
  virtual result<Figures> run(const SweepPoint& point, const ScheduledRun& scheduled) = 0;
  // What a reader of the results should know, a sentence each.
  virtual std::vector<std::string> notes() const { return {}; }
};

// What is wrong with the plan is found before the first run. Precondition: the plan has that world, and outlives the bench.
// Errors: invalid_argument, naming the member at fault; of the live one also all that keeps a cluster from starting.
result<std::unique_ptr<Bench>> simulated_bench(const SweepPlan& plan);
// Programs are taken from bin_dir. While it lives, the first SIGINT or SIGTERM breaks the run off.
result<std::unique_ptr<Bench>> live_bench(const SweepPlan& plan, const std::filesystem::path& bin_dir);

}  // namespace hedgerow::lab::sweep
