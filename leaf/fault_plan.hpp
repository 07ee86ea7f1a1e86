// The faults that are set on a leaf, and what they decide: for each piece of work, and for the leaf as a whole. Pure and
// seeded: time is handed in. Acting on it is fault_injector's.
//
// 1. A fault's draws depend on its place in the list, its seed, and on the leaf's name ("per" work) or the query ("per"
//    query), and on nothing else: the same work in the same order meets the same faults again; two faults of one seed, and
//    one fault on two leaves, do not coincide.
// 2. What a fault does not meet draws nothing from it.
// 3. Before `after` and from `for` on a fault meets nothing; it stays in the list, with what it has done, until cleared.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/ids.hpp"
#include "base/random.hpp"
#include "leaf/background_schedule.hpp"
#include "leaf/fault.hpp"
#include "leaf/work_kind.hpp"

namespace hedgerow::leaf {

// What a fault may be met by: one piece of work.
struct WorkInHand {
  WorkKind kind = WorkKind::search;
  std::span<const PartitionId> partitions;          // that it reads; none: spelling
  const std::vector<std::string>* terms = nullptr;  // of its query; null: it knows none
  std::string_view query;                           // that tells it from others, empty where it knows none
};

// How work ends before it has begun, by a fault. Of several faults the worst counts, in this order.
enum class FaultEnding : std::uint8_t { none, error, refused, garbage, black_hole, crash };

struct FaultDecision {
  Duration late{};
  Duration hold{};
  Duration burn{};
  FaultEnding ending = FaultEnding::none;
  std::vector<FaultKind> kinds;  // of the faults that are met
  std::string names;  // "late 200ms, error"; empty where nothing happens

  // A worker is kept from other work.
  bool occupies() const { return hold > Duration::zero() || burn > Duration::zero(); }
};

class FaultPlan {
 public:
  // leaf: its name. stem: as the index stems words.
  FaultPlan(std::string leaf, QueryPattern::Stem stem) : leaf_(std::move(leaf)), stem_(std::move(stem)) {}

  // epoch: where Unix time was 0 on the clock that `now` is of, see background_schedule.
  void replace(std::vector<Fault> faults, Instant now, Instant epoch);
  bool empty() const { return faults_.empty(); }
  std::size_t size() const { return faults_.size(); }

  FaultDecision decide(const WorkInHand& work, Instant now);

  // A pause or background work that goes on at `now`.
  struct OfLeaf {
    std::size_t place;  // in the list
    FaultKind kind;
    const BackgroundWork* background;  // null for a pause
    Instant until;                     // max: until it is cleared
  };
  std::vector<OfLeaf> of_leaf(Instant now) const;
  // When something of the whole leaf begins or ends next.
  std::optional<Instant> next_change(Instant now) const;
  // A run of the fault at that place has begun.
  void count_run(std::size_t place) { ++faults_[place].applied; }

  // Each fault with how often it was applied, its state (waiting, active, over) and how much of its time remains.
  nlohmann::json listing(Instant now) const;

 private:
  struct Planned {
    Fault fault;
    Random random;
    std::uint64_t query_seed;
    BackgroundSchedule schedule;
    Instant begin, end;
    std::uint64_t applied = 0;
  };
  static bool is_active(const Planned& planned, Instant now) { return planned.begin <= now && now < planned.end; }
  bool meets(const Fault& fault, const WorkInHand& work) const;
  // Of a fault of the whole leaf: until when what it does now goes on, if it does anything.
  static std::optional<Instant> goes_on_until(const Planned& planned, Instant now);

  std::string leaf_;
  QueryPattern::Stem stem_;
  std::vector<Planned> faults_;
};

}  // namespace hedgerow::leaf
