// A world to simulate: leaves and what goes wrong with them, the way there, the queries and what they want. Plain data.
//
// Together with its seed it determines everything that happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/ids.hpp"
#include "lab/simulation/service_time.hpp"
#include "root/policy/cluster/admission.hpp"
#include "root/policy/cluster/canaries.hpp"
#include "root/policy/cluster/search_policies.hpp"
#include "root/policy/query/good_enough.hpp"

namespace hedgerow::lab::simulation {

// Times in which work takes longer, begun and ended by chance, whatever work there is: neighbours on the machine, garbage
// collection, throttled clocks.
struct SlowPeriods {
  Duration every{};    // mean time between them; 0: there are none
  Duration lasting{};  // mean
  double factor = 1;   // of the service time, within
  Duration extra{};    // added to it, within
};

enum class FaultKind : std::uint8_t {
  late,         // answers are sent a `delay` later; no worker is occupied
  hold,         // a worker is occupied for a `delay` more
  slow,         // service takes `factor` times as long
  pause,        // the leaf takes no work from its queue
  freeze,       // the process stands still, and goes on where it was
  error,        // work fails at once
  refuse,       // work is refused
  black_hole,   // work is taken and never answered
  duplicate,    // answers come twice
  crash,        // the process ends, and is started again when the fault ends
  cut,          // its links break, and both sides notice
  cut_silently, // its links carry nothing more, which both sides notice after link_idle_time
};
std::string_view to_string(FaultKind kind);

struct Fault {
  FaultKind kind = FaultKind::late;
  std::optional<LeafId> leaf = std::nullopt;  // none: every leaf
  Duration from{};
  std::optional<Duration> until = std::nullopt;  // none: it stays
  ServiceTime delay = ServiceTime::constant(Duration::zero());  // drawn for each attempt
  double factor = 1;
  double probability = 1;  // for each attempt; not for pause, freeze, crash and cuts
};

// What a share of the queries wants.
struct QueryShape {
  double weight = 1;
  policy::HedgeChoice hedge;
  bool tied = false;
  policy::GoodEnoughRule good_enough;
  Duration deadline = std::chrono::milliseconds(250);  // of the search: there is no second phase here
  std::size_t width = 0;                               // partitions asked, drawn at random; 0: all
  ServiceClass service_class = ServiceClass::interactive;
  double client_leaves = 0;  // the chance that its client goes away before the deadline
  // Drawn once for each query, and added to what every one of its attempts takes: what a query has in common everywhere.
  std::optional<ServiceTime> shared = std::nullopt;
  // Each of its attempts is so many draws of the leaves' service time, done in one go.
  std::size_t draws = 1;
  bool partial = true;  // false: all partitions or nothing, so admission does not narrow it
  // How many different texts there are of it, drawn at random; 0: each query is one that nobody asked before. (For canaries.)
  std::size_t texts = 0;
  bool deadly = false;  // a leaf that begins an attempt of it dies
};

// From this time on.
struct RateChange {
  Duration at;
  double rate;
};
struct BudgetChange {
  Duration at;
  double fill, depth;
};

// Work of somebody else, on every leaf.
struct BackgroundJob {
  double rate = 0;  // pieces per second and leaf; 0: none
  ServiceTime service;
  ServiceClass service_class = ServiceClass::batch;
  std::optional<Duration> deadline = std::nullopt;  // only for its place in the queue; none: behind all that has one
};

// Upkeep of the leaves at regular times: as long as it lasts, a leaf begins no work (what runs is done to its end).
struct Upkeep {
  Duration period{};  // zero: there is none
  Duration length{};
  // aligned: on all leaves at the same times; staggered: each leaf's begins a leaf's share of the period after the one's before.
  enum class Phase { aligned, staggered } phase = Phase::aligned;
};

// Processes beside the leaves that suggest spellings: an optional subsystem, asked by every query.
struct Spellers {
  std::size_t count = 2;
  ServiceTime time;  // from the question to its answer; they never queue
};

// Deliberate mistakes of the host, each of which the invariants must find (see tests).
enum class Sabotage : std::uint8_t {
  none,
  merge_twice,       // a second answer is merged as well
  answer_late,       // the deadline's wake comes 1 ms late
  answer_twice,      // a query's answer is sent again
  forget_wake,       // a wish to be woken is lost
  forget_cancel,     // what is cancelled still counts as under way
  hedge_unpaid,      // a hedge that no token was taken for
  ask_again,         // a leaf is asked a second time
  keep_record,       // what is over is kept
  forget_leaving,    // admission is not told that a query has ended
};
constexpr int sabotages = 10;  // none is one
std::string_view to_string(Sabotage sabotage);

struct WorldSettings {
  std::uint64_t seed = 1;
  std::size_t roots = 1;
  std::size_t leaves = 20;
  std::size_t partitions = 20;
  std::size_t replicas = 3;
  // Of each leaf. Workers 0: as many as there is work, and so no queue.
  std::size_t workers = 2;
  std::size_t queue_capacity = 1024;
  ServiceTime service;
  SlowPeriods slow_periods;         // each leaf for itself
  SlowPeriods shared_slow_periods;  // all leaves at once
  BackgroundJob background;
  Upkeep upkeep;

  // One way, root to leaf or back, and leaf to leaf. On one link nothing overtakes.
  ServiceTime network = ServiceTime::constant(Duration::zero());
  Duration link_idle_time = std::chrono::seconds(1);
  Duration reconnect_time = std::chrono::milliseconds(50);

  double rate = 100;  // queries per second, by a Poisson process over all roots
  std::vector<RateChange> rate_changes;
  std::uint64_t queries = 1000;  // that are measured
  std::uint64_t warm_up = 0;     // before them
  std::vector<QueryShape> shapes{QueryShape{}};
  // A finished query stays for this long (as for its second phase): late answers then still come to it.
  Duration linger{};

  policy::SearchPolicySettings policies;
  std::optional<policy::AdmissionSettings> admission = std::nullopt;  // none: every query is let in at once
  std::optional<policy::CanariesSettings> canaries = std::nullopt;    // none: every query fans out at once
  std::optional<Spellers> spellers = std::nullopt;  // none: no query asks for spelling
  Duration restart_time = std::chrono::seconds(1);  // of a leaf that a query took down
  std::vector<BudgetChange> budget_changes;
  std::vector<Fault> faults;

  bool timeline = false;  // keep figures for each second
  Sabotage sabotage = Sabotage::none;
};

}  // namespace hedgerow::lab::simulation
