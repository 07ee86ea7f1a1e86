// `hedgerow-lab load`: asks a root queries at a rate (open loop) or as fast as some clients can (closed loop), and
// reports what came of it.
//
// One thread. Bounded: connections, what is kept of answers (nothing but counts; an observer may keep more), and queries that
// wait (none: the schedule itself is the queue; a query that finds every connection busy is sent as soon as one is free, and
// its latency still runs from its intended instant).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "lab/arrivals.hpp"
#include "lab/load_report.hpp"
#include "lab/search_target.hpp"
#include "lab/wanted_answers.hpp"

namespace hedgerow::lab {

enum class QueryOrder {
  cycled,  // one after another, from the first again behind the last
  drawn,   // each at random, with the seed
};

struct LoadSettings {
  // "http://127.0.0.1:7080".
  std::string target;
  std::vector<std::string> queries;
  QueryOrder order = QueryOrder::cycled;
  SearchParameters parameters;
  // Open loop: queries per second, for so long, after a warm-up at the same rate that is not measured.
  double rate = 0;
  Duration duration{};
  Duration warm_up{};
  ArrivalShape arrivals = ArrivalShape::poisson;
  // Closed loop, where clients > 0: so many clients, until so many queries are answered in all.
  std::size_t clients = 0;
  std::uint64_t count = 0;
  // The most connections of an open loop. Too few make queries wait, and the report says so.
  std::size_t connections = 256;
  // How long an answer may take, from sending, before it counts as a transport error.
  Duration time_limit = std::chrono::seconds(10);
  std::uint64_t seed = 1;
  // What answers should hold, by the queries' places; null: recall and nDCG are not measured.
  std::shared_ptr<const WantedAnswers> wanted;
  // Asks with trace=on, and tells observers how long each attempt took. Traces cost the root time of their own.
  bool traced = false;
};

struct LoadProgress {
  Duration elapsed{}, total{};  // total: of an open loop, warm-up included
  std::uint64_t wanted = 0;     // of a closed loop: queries in all
  std::uint64_t sent = 0, answered = 0, failed = 0;
  std::size_t in_flight = 0;
  // Since the call before: answers of any kind, and how long half of them, nearly all, and the slowest took.
  std::uint64_t recent = 0;
  Duration recent_p50{}, recent_p99{}, recent_max{};
};

struct LoadResult {
  LoadFrame frame;
  LoadReport report;
};

// A file of queries, one a line; blank lines are skipped. At most a million. Errors: io, invalid_argument (none in it),
// too_large.
result<std::vector<std::string>> read_queries(const std::filesystem::path& path);

class Load {
 public:
  // progress is called about once a second.
  Load(boost::asio::io_context& context, LoadSettings settings, std::function<void(const LoadProgress&)> progress = {});
  ~Load();

  // Called with every outcome that is measured, as it ends, before run returns. To be set before run.
  void observe(std::function<void(const LoadOutcome&)> observer);
  // Runs to the end. Errors: invalid_argument (settings), unavailable (the target's name is not known).
  boost::asio::awaitable<result<LoadResult>> run();
  // Sends nothing more; run returns when what is under way is answered.
  void break_off();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hedgerow::lab
