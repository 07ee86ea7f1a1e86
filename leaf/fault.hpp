// Injected misbehaviour as data: what one fault is, and how it is written in JSON. Pure. What it decides for a piece of work
// is fault_plan's, acting on that fault_injector's.
//
//   {"kind": "late", "delay": "lognormal:20ms,1", "probability": 0.1, "seed": 7, "partitions": [3], "work": ["search"],
//    "query": "edit* -section:games", "after": "1s", "for": "10s"}
//
//   late        the answer is sent `delay` later; no worker is occupied
//   hold        a worker is occupied that much longer before it starts
//   burn        a worker burns that much of a processor's time before it starts
//   error       the work fails at once
//   refused     the work is refused, as by a full queue
//   black_hole  the work is taken and never answered
//   garbage     what is sent in place of the answer is no message: the root ends the link
//   crash       the process ends
//   pause       the leaf takes no work from its queue; it goes on accepting
//   background  for `length` in every `period` the leaf does something else: `takes` "workers" (no work begins
//               meanwhile) or "processor" (so many `threads` burn it); `phase` is "aligned" (with all leaves, by the
//               clock), "staggered" (by the leaf's name), or a duration
//
// The last two are of the whole leaf. All others meet a piece of work (a partition of a search or of facets, and otherwise
// a call) only if it is of `partitions`, of a kind in `work`, about a query with `word` and met by `query` (see
// query_pattern), each where it is given, and then with `probability`. `per` "work" draws chance and delay for each piece,
// on each leaf for itself; "query" draws both from the query and the seed, so that every partition of a query has the same
// fate on all leaves. `after` and `for` are reckoned from when the fault is set.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/distribution.hpp"
#include "base/error.hpp"
#include "base/ids.hpp"
#include "leaf/query_pattern.hpp"
#include "leaf/work_kind.hpp"

namespace hedgerow::leaf {

enum class FaultKind : std::uint8_t { late, hold, burn, error, refused, black_hole, garbage, crash, pause, background };

inline constexpr std::array fault_kinds{FaultKind::late,       FaultKind::hold,    FaultKind::burn,  FaultKind::error,
                                        FaultKind::refused,    FaultKind::black_hole, FaultKind::garbage, FaultKind::crash,
                                        FaultKind::pause,      FaultKind::background};

std::string_view to_string(FaultKind kind);

// Of the whole leaf, and not of pieces of work.
constexpr bool is_of_leaf(FaultKind kind) { return kind == FaultKind::pause || kind == FaultKind::background; }
constexpr bool has_delay(FaultKind kind) {
  return kind == FaultKind::late || kind == FaultKind::hold || kind == FaultKind::burn;
}

// What a chance is drawn for.
enum class DrawnPer : std::uint8_t { work, query };

struct BackgroundWork {
  enum class Phase : std::uint8_t { aligned, staggered, given };
  enum class Takes : std::uint8_t { workers, processor };

  Duration period{};
  Duration length{};
  Phase phase = Phase::aligned;
  Duration given_phase{};
  Takes takes = Takes::workers;
  std::uint32_t threads = 1;  // that burn the processor
};

struct Fault {
  FaultKind kind = FaultKind::late;
  Distribution delay = Distribution::constant({});  // of late, hold and burn

  double probability = 1;
  DrawnPer per = DrawnPer::work;
  std::uint64_t seed = 1;
  std::vector<PartitionId> partitions;  // empty: every one, and work of none
  std::vector<WorkKind> work;           // empty: every kind
  std::string word;                     // empty: every query
  std::optional<QueryPattern> query;

  Duration after{};
  std::optional<Duration> lasting;  // "for"; none: until it is cleared

  BackgroundWork background;
};

constexpr std::size_t most_faults = 64;

// A list of faults, or {"faults": […]}. What a listing adds to a fault (applied, state, remaining) may stand in it.
// Errors: invalid_argument, naming the fault and the field; too_large. read: for delays of measured files.
result<std::vector<Fault>> parse_faults(const nlohmann::json& json, const Distribution::ReadFile& read);
nlohmann::json to_json(const Fault& fault);

}  // namespace hedgerow::leaf
