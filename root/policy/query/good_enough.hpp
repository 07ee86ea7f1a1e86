// Whether to answer before the deadline with less than everything. Pure.
//
// Intuition: waiting is worth it while it brings more than it costs. `patience` is the time that each further percent of
// completeness is worth. With c the completeness so far, and for an instant t' after now
//   gain(t') = 100 · Σ over waiting partitions of share(p) · Pr(answered by t' | not answered until now),
// (of what is waited for longer than anything known: 1 - t / t', since what has lasted for so long probably lasts for as
// long again); waiting until t' pays when gain(t') · patience > t' - now. If it pays for no t', the answer goes now; otherwise it is
// asked again at the t' that pays most, or when something arrives. It never goes with less than min_completeness.
#pragma once

#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "root/policy/cluster/latency_model.hpp"

namespace hedgerow::policy {

struct GoodEnoughRule {
  double min_completeness = 1;  // of the partitions asked; 1: only the deadline ends the waiting
  Duration patience = std::chrono::milliseconds(2);  // for each percent
};

// A partition that is waited for.
struct Awaited {
  double share;      // of the documents asked
  Duration waited;   // since it was its turn, for the attempt that will probably answer first
  Duration later{};  // its leaf is known to answer so much later than the curve says
};

// How long it will still take, as likely as not; Duration::max(): nothing known says that it will come.
Duration usual_rest(const Awaited& awaited, const LatencyCurve& latencies);

// The instant until which waiting pays best; nullopt: it pays for none. completeness: the share of the documents asked
// that is here. Where nothing is known of latencies, the search's end.
std::optional<Instant> worth_waiting_until(const GoodEnoughRule& rule, double completeness,
                                           const std::vector<Awaited>& awaited, const LatencyCurve& latencies,
                                           Instant search_end, Instant now);

}  // namespace hedgerow::policy
