// The real processes behind a live experiment: a cluster on this machine, load on it, faults in it, until the object's end.
//
// Owned by the experiment, used from its one thread, and blocking: every call returns when what it does is done. What goes
// wrong with the cluster ends the experiment, since nothing can be measured any more: it is thrown as LiveFailure, and
// caught where experiments are run (run_live). Whatever happens, no process stays behind (see lab/child_process).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "lab/evaluation.hpp"
#include "lab/experiments/experiment.hpp"
#include "lab/experiments/live_failure.hpp"
#include "lab/load.hpp"
#include "lab/queries_file.hpp"

namespace hedgerow::lab {

struct LiveClusterSettings {
  std::size_t leaves = 4;
  std::size_t partitions = 8;
  std::size_t replicas = 1;
  unsigned workers = 1;  // of each leaf
  std::size_t spellers = 0;
  // What is indexed, as `hedgerow-index build --corpus` takes it.
  std::string corpus = "synthetic:3000";
  std::vector<std::string> root_arguments = {}, leaf_arguments = {};
};

// A load as an experiment says it; queries and target are the cluster's.
struct LiveLoad {
  SearchParameters parameters;
  double rate = 0;       // open loop; or so many clients that each ask again at once
  ArrivalShape arrivals = ArrivalShape::poisson;
  std::size_t clients = 0;
  Duration duration{};
  Duration warm_up{};
  std::uint64_t seed = 1;
  std::vector<std::string> queries = {};  // none: made up, of two or three words
};

struct LiveRun {
  LoadResult result;
  std::vector<LoadOutcome> outcomes;  // of all measured queries, in the order of their ends

  // Of answers (status 200), from the intended instant; NaN where there are too few for it (fewer than two beyond).
  double quantile_ms(double quantile) const;
  Histogram latency() const;
  std::uint64_t with_status(int status) const;
  double mean_completeness() const;
};

class LiveCluster {
 public:
  // Builds the index, starts everything, and asks some queries, so that nobody is cold. No results cache; canaries off.
  LiveCluster(const ExperimentRequest& request, const LiveClusterSettings& settings);
  ~LiveCluster();
  LiveCluster(const LiveCluster&) = delete;
  LiveCluster& operator=(const LiveCluster&) = delete;

  LiveRun load(const LiveLoad& load);
  // All at once. A closed loop goes on until the open loops are over.
  std::vector<LiveRun> loads(const std::vector<LiveLoad>& loads);

  // A list of faults on every leaf, or one; empty: none.
  void set_faults(const nlohmann::json& faults);
  void set_faults(std::size_t leaf, const nlohmann::json& faults);

  // One search, whatever its status.
  struct Answer {
    int status = 0;
    nlohmann::json body;
    Duration latency{};
  };
  Answer search(const std::string& query, const SearchParameters& parameters = {});
  // The queries of a test collection, four at a time; one outcome each.
  std::vector<QueryOutcome> evaluate(const std::vector<TestQuery>& queries, const SearchParameters& parameters, std::uint32_t depth);
  nlohmann::json get(const std::string& target);  // of the root
  // A counter or gauge of a process, as /metrics gives it; 0 where there is none.
  double metric(const std::string& process, const std::string& series);
  // Of the root: attempts sent of this kind.
  double attempts(const std::string& kind);
  // How many leaves' processes run.
  std::size_t leaves_running() const;
  // Starts leaves that have ended, and waits until the root serves all again.
  void start_ended_leaves();

  std::size_t leaves() const;
  std::string root_address() const;
  // Puts what a reader must know of the cluster into the result's settings.
  void describe(ExperimentResult& result) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// A time of a live run, scaled as the request wishes; at least a second.
Duration scaled(Duration time, const ExperimentRequest& request);
// Runs that are held against each other go by turns, so that what else the machine does falls on all of them: in so many
// rounds, or in a single one where the request leaves little time.
std::size_t rounds_of(std::size_t wanted, const ExperimentRequest& request);
// What a run of this length in all has in each of its rounds; at least a second.
Duration in_each_round(Duration all, std::size_t rounds, const ExperimentRequest& request);

// Words of the made-up collection that some documents hold.
std::string made_up_query(std::uint64_t number);

}  // namespace hedgerow::lab
