// What a sweep runs: every combination of deadlines, fan-out widths, policies and faults, each so many times. Pure.
//
// A plan is a JSON object; the flags of `hedgerow-lab sweep` are laid over it (flags.hpp), so that both are read by the
// same rules. Only the four lists and the load's rate have no default that fits everybody:
//
//   {"deadlines": ["20ms", "50ms", "250ms"], "fanouts": [4, "all"],
//    "policies": [{"name": "plain", "hedge": "off"}, {"name": "hedged", "hedge": "auto", "hedge_budget_fill": 0.05}],
//    "faults": [{"name": "none"}, {"name": "late leaf", "faults": [{"leaf": 0, "kind": "late", "delay": "200ms"}]}],
//    "repetitions": 5, "seed": 1,
//    "load": {"rate": 50, "duration": "10s", "warm_up": "3s", "arrivals": "poisson", "queries": "queries.txt"},
//    "quality": {"k": 10, "reference": true, "qrels": "qrels.txt"},
//    "live": {"index": "/srv/index", "leaves": 8, "replicas": 2}, "simulated": {"leaves": 100, "service": "lognormal:5ms,0.7"}}
//
// A policy is a set of search parameters (the API's words), and of the hedge budget's settings. Faults are those of
// PUT /v1/leaves/{leaf}/faults with the number of a leaf; one without is every leaf's.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/arrivals.hpp"
#include "lab/search_target.hpp"

namespace hedgerow::lab::sweep {

struct Policy {
  std::string name;
  SearchParameters parameters;
  std::optional<double> hedge_budget_fill, hedge_budget_depth;  // none: the root's default
};

struct FaultSet {
  std::string name;
  nlohmann::json faults = nlohmann::json::array();
};

struct SweepLoad {
  double rate = 0;  // queries per second
  Duration duration = std::chrono::seconds(10);
  Duration warm_up = std::chrono::seconds(3);
  ArrivalShape arrivals = ArrivalShape::poisson;
  std::string queries;  // a file; of live sweeps
  std::uint64_t connections = 256;
};

// What answers are measured against, beside their completeness; of live sweeps.
struct Quality {
  std::uint64_t k = 10;
  bool reference = false;  // recall against the complete answers
  std::string qrels;       // nDCG against judgements; a file, or empty
  bool wanted() const { return reference || !qrels.empty(); }
};

struct LiveWorld {
  std::string index;  // a directory
  std::uint64_t leaves = 8, replicas = 2;
  std::uint64_t workers = 0;  // of each leaf; 0: the leaf's own default
  std::uint64_t spellers = 0;
  std::vector<std::string> leaf_arguments, root_arguments;
  // Begun anew before every run: the root (policies know nothing, nothing is cached), or the leaves as well.
  enum class Anew { root, all } anew = Anew::root;
};

struct SimulatedWorld {
  std::uint64_t leaves = 20, partitions = 20, replicas = 3, workers = 2;
  std::string service = "lognormal:5ms,0.5", network = "constant:100us";
};

struct SweepPlan {
  std::string name = "Sweep";
  std::vector<Duration> deadlines;
  std::vector<std::optional<std::uint32_t>> fanouts{std::nullopt};  // none: all partitions
  std::vector<Policy> policies;
  std::vector<FaultSet> faults;
  std::uint64_t repetitions = 5;
  std::uint64_t seed = 1;
  SweepLoad load;
  Quality quality;
  std::optional<LiveWorld> live;
  std::optional<SimulatedWorld> simulated;
};

// Errors: invalid_argument, with the member at fault and what it should be.
result<SweepPlan> parse_plan(const nlohmann::ordered_json& json);
// What parse_plan reads back.
nlohmann::ordered_json to_json(const SweepPlan& plan);

// A combination.
struct SweepPoint {
  Duration deadline{};
  std::optional<std::uint32_t> fanout;
  std::string policy, faults;
  friend bool operator==(const SweepPoint&, const SweepPoint&) = default;
};
// By faults, then policy, then width, then deadline, each in the plan's order.
std::vector<SweepPoint> points_of(const SweepPlan& plan);
std::string to_text(const SweepPoint& point);  // "plain, 4 partitions, 20ms, late leaf"
std::string fanout_text(const std::optional<std::uint32_t>& fanout);  // "4", "all"

// One run. In each repetition every point is run once, in an order drawn anew, so that whatever changes meanwhile (a machine
// that warms up, a neighbour) falls on all points alike; and all have the same arrivals, which the seed decides.
struct ScheduledRun {
  std::size_t point;  // in points_of
  std::uint64_t repetition;
  std::uint64_t seed;
};
std::vector<ScheduledRun> schedule_of(const SweepPlan& plan);

}  // namespace hedgerow::lab::sweep
