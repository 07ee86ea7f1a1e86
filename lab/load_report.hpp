// What a load came to: outcomes go in, quantiles and counts come out, as JSON or as a table. Pure, of fixed size
// however many outcomes there are. Not thread-safe.
//
// Latencies and completeness are those of answers with status 200 alone, since a refusal is quick and would flatter them;
// everything else is counted and has latencies of its own. In an open loop they run from the instant at which the query was
// *intended* to be sent: a server that stalls, or a generator that falls behind, shows in every query that should have
// been asked meanwhile (Gil Tene's coordinated omission).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/attempt.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/histogram.hpp"
#include "lab/answer_quality.hpp"

namespace hedgerow::lab {

// One attempt of a query's search, where traces were asked for. Failed ones, which say nothing of how long an answer
// takes, are left out.
struct AttemptLatency {
  Duration latency{};
  bool answered = true;  // or given up after so long
};

// How one query ended: with a status, or with a transport error.
struct LoadOutcome : AnswerMeasures {
  std::size_t query = 0;      // its place in the load's list
  Duration intended_at{};     // since the first instant that is measured
  Duration latency{};         // from the intended instant to the whole answer (in a closed loop, from sending)
  Duration send_lag{};        // from the intended instant to sending
  Duration own_lag{};         // the part of it that was not waiting for a connection: this process came late
  std::optional<int> status;
  Errc error = Errc::unavailable;  // where there is no status
  std::optional<double> took_ms;
  std::string finished;
  std::array<std::uint64_t, attempt_kinds> attempts{};
  std::uint64_t hedges_won = 0, attempts_cancelled = 0, partitions_asked = 0;
  std::vector<std::pair<std::string, std::string>> subsystems;  // name and status
  std::vector<AttemptLatency> attempt_latencies;
};

// What was asked for, and how it went as a whole.
struct LoadFrame {
  std::string target;
  bool open_loop = true;
  double rate = 0;               // intended, per second; open loop only
  std::string arrivals;          // open loop only
  std::uint64_t seed = 0;
  std::size_t connections = 0;   // the most that were allowed; the clients of a closed loop
  std::size_t connections_used = 0;
  std::size_t depth = 10;        // the k of recall@k
  Duration measured{};           // from the first measured intended instant to the last one's end of schedule
  Duration sending{};            // until the last query was sent
  Duration elapsed{};            // until the last answer
  std::uint64_t intended = 0;    // measured queries that the schedule holds (until it was broken off)
  std::uint64_t warm_up = 0;     // queries sent before, not measured
  // Queries that found every connection busy at their instant and had to wait.
  std::uint64_t waited_for_connection = 0;
  bool broken_off = false;       // by a signal
};

class LoadReport {
 public:
  LoadReport();

  void record(const LoadOutcome& outcome);
  std::uint64_t answered() const { return answered_; }  // with any status
  std::uint64_t recorded() const { return answered_ + failed_; }
  // Of answers with status 200, in nanoseconds.
  const Histogram& latency() const { return latency_; }

  // An open loop kept up when 99 % of the queries were sent within a millisecond of their instant, or within a tenth of
  // the latencies' p99, whichever is more: beyond, the latencies tell of the load as much as of the server. What to do
  // about it, where it did not.
  std::optional<std::string> could_not_keep_up(const LoadFrame& frame) const;

  nlohmann::ordered_json to_json(const LoadFrame& frame) const;
  std::string to_text(const LoadFrame& frame) const;

 private:
  // The highest quantile with ten answers beyond it; a higher one is the luck of a few.
  const char* supported_to() const;
  // The highest quantile up to which this process's own lateness is borne, by the rule of could_not_keep_up.
  const char* undistorted_to() const;
  nlohmann::ordered_json attempts_json() const;
  std::string attempts_text() const;

  Histogram latency_, other_latency_, send_lag_, own_lag_, took_;
  std::uint64_t answered_ = 0, failed_ = 0;
  std::map<int, std::uint64_t> statuses_;
  std::map<Errc, std::uint64_t> errors_;
  std::map<std::string, std::uint64_t> finished_;
  std::map<std::string, std::map<std::string, std::uint64_t>> subsystems_;
  AnswerQuality quality_;
  std::array<std::uint64_t, attempt_kinds> attempts_{};
  std::uint64_t hedges_won_ = 0, attempts_cancelled_ = 0;
  // Of answers that sent any attempt: one from a cache asks nobody.
  std::uint64_t partitions_asked_ = 0;
};

}  // namespace hedgerow::lab
