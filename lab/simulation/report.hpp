// What a simulation found: latencies, completeness, what was sent beyond the necessary, what leaves did, and whether
// anything happened that must not.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "root/policy/query/action.hpp"
#include "root/policy/query/subsystems.hpp"

namespace hedgerow::lab::simulation {

constexpr std::size_t attempt_kinds = 6;
constexpr std::size_t finish_reasons = 4;

// Of the queries that are measured.
struct QueryFigures {
  explicit QueryFigures(int precision_bits = 10);

  Histogram latency;  // nanoseconds, from arrival to answer
  std::uint64_t queries = 0, abandoned = 0, refused = 0;  // refused ones count nowhere else
  std::uint64_t quarantined = 0, without_verdict = 0;  // nor do these: canaries said no, or nothing in time
  std::array<std::uint64_t, finish_reasons> finished{};
  std::uint64_t partitions = 0, answered = 0;  // asked; answered in time
  std::array<std::uint64_t, attempt_kinds> attempts{};
  std::uint64_t hedges_won = 0;
  std::array<std::uint64_t, 5> spelling{};  // by policy::SubsystemStatus; queries that their client did not leave
  std::uint64_t first_attempts = 0;  // of their partition
  // All attempts beyond the first of each partition, for each first one. (A partition that nobody could be asked for counts
  // as if it had been; 0 where that makes it fewer.)
  double extra_share() const;
  double completeness() const;
  double quantile_ms(double quantile) const;
  // The share of the queries that took longer, to the histogram's precision.
  double longer_than(Duration time) const;
};

// Of all leaves and the whole run, warm-up included.
struct LeafFigures {
  std::uint64_t arrived = 0, answered = 0, refused = 0, expired = 0, failed = 0, superseded = 0, swallowed = 0;
  std::uint64_t cancelled_queued = 0, cancelled_running = 0, cancelled_too_late = 0;
  std::uint64_t both_began = 0;  // of tied pairs
  std::uint64_t killed = 0;      // processes, by deadly queries
  std::uint64_t late_answers = 0, second_answers = 0;
  Duration executed{}, merged{};  // time on workers: all of it, and that of the answers that were merged
  Duration background{};
  // Executed beyond what was merged, for each piece merged.
  double extra_work() const;
};

struct Report {
  std::uint64_t seed = 0;
  QueryFigures measured;
  LeafFigures leaves;
  // By the second of their arrival, all queries; kept only on demand.
  std::vector<QueryFigures> seconds;
  std::vector<std::string> obstacles;  // to hedging at the end of each second, of root 0
  std::uint64_t events = 0;
  std::uint64_t queries = 0;  // warm-up included
  Duration simulated{};
  // The first few, in words; and how many in all.
  std::vector<std::string> violations;
  std::uint64_t violated = 0;

  nlohmann::json to_json() const;
  std::string to_text() const;
};

}  // namespace hedgerow::lab::simulation
