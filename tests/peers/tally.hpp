// What became of the queries of one part of a load: counts, and a histogram of latencies.
//
// Each thread has its own; they are merged when the load is over.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "tests/peers/engine.hpp"

namespace hedgerow::peers {

class Tally {
 public:
  Tally();
  // latency: from the instant at which the query was meant to be sent to the end of its answer.
  void record(const result<Answer>& answer, Duration latency);
  // A query for which no client was free before the load was over; it had waited for so long then, which is less than it
  // would have taken.
  void record_unsent(Duration waited);
  // A query that was sent later than it was meant to, since all clients were busy.
  void count_late_start() { ++late_starts_; }
  void merge(const Tally& other);

  std::uint64_t queries() const { return answered_ + errors_ + unsent_; }
  std::uint64_t answered() const { return answered_; }
  std::uint64_t complete() const { return complete_; }
  std::uint64_t errors() const { return errors_; }
  std::uint64_t unsent() const { return unsent_; }
  std::uint64_t late_starts() const { return late_starts_; }
  const Histogram& latencies() const { return latencies_; }

  // Counts, and of latencies p50_ms to max_ms where there are any. Latencies are those of answers, complete or not, and of
  // what was not sent; errors have none, or an engine that fails at once would look fast.
  nlohmann::ordered_json json() const;

 private:
  std::uint64_t answered_ = 0, complete_ = 0, errors_ = 0, unsent_ = 0, late_starts_ = 0, hits_ = 0;
  Histogram latencies_;  // in microseconds
  std::string first_error_;
};

}  // namespace hedgerow::peers
