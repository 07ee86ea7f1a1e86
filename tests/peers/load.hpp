// The load that every engine is measured by, from the same queries in the same order.
//
// Closed loop: some clients, each of which asks the next query as soon as it has the answer to the last: how many answers an
// engine gives in a second, and how fast one is that has the machine to itself (one client).
//
// Open loop: queries are to be sent at the instants of a Poisson process, whatever has become of those before, and latency
// runs from the instant at which a query was meant to be sent. Clients block, so there are as many threads as queries may be
// under way at once; where all of them are busy, the queries behind wait, their latencies with them, and late_starts tells it.
//
// Threads, not an event loop: Xapian's and MariaDB's clients block. Each thread owns a client; all of them ask one query
// before anything begins, so that no connecting is measured.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "tests/peers/engine.hpp"
#include "tests/peers/tally.hpp"

namespace hedgerow::peers {

struct LoadSettings {
  std::vector<std::string> queries;  // asked in this order, from the first again behind the last
  std::size_t clients = 8;           // threads
  Duration warm_up = std::chrono::seconds(2);  // not measured
  Duration duration = std::chrono::seconds(10);
  // Closed loop: no more queries than that; 0: as many as there is time for.
  std::uint64_t count = 0;
  // Open loop, where above 0: queries a second.
  double rate = 0;
  // Open loop: after_warm_up is called when the warm-up is over (a fault begins, say); what is meant to be sent within the
  // settling time behind that is tallied apart.
  Duration settling{};
  std::function<void()> after_warm_up;
  std::uint64_t seed = 1;
};

struct LoadResult {
  Tally settling, measured;
  Duration elapsed{};  // of what was measured
  // Closed loop: the processor time of this process meanwhile. Of servers it is the price of asking; of an engine
  // within the process, and of Xapian's remote backend, whose clients merge, the engine's own work is in it.
  Duration processor_time{};

  // That of measured; queries_per_second (answers), asker_us (processor time of a query) and settling where there is any.
  nlohmann::ordered_json json() const;
};

// Errors: invalid_argument (no queries or clients).
result<LoadResult> run_load(Engine& engine, const LoadSettings& settings);

}  // namespace hedgerow::peers
