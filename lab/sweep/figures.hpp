// What one run of a sweep came to, and the list of what is measured: each measure once, with its name, unit and which way is
// better, for tables, files, charts and comparisons alike. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/histogram.hpp"

namespace hedgerow::lab::sweep {

struct Figures {
  std::uint64_t queries = 0;   // measured
  std::uint64_t answered = 0;  // with an answer, perhaps partial
  std::uint64_t refused = 0;   // for load (503)
  std::uint64_t late = 0;      // nothing in time (504)
  std::uint64_t failed = 0;    // in another way
  // Whether queries were sent at their instants, and if not, what kept them; simulations always do.
  bool kept_up = true;
  std::string not_kept_up;

  // Latencies of answers, from the intended instant, in ms; a quantile only where at least two answers lie beyond it.
  std::optional<double> p50_ms, p90_ms, p99_ms, p99_9_ms, max_ms;
  // Means over all queries, of which those without an answer count 0.
  std::optional<double> completeness, recall, ndcg;
  // Attempts beyond the first of each partition, as a share of the first ones.
  std::optional<double> extra_attempts;
  // Queries with an answer, of all.
  std::optional<double> answered_share() const;

  // Of answers, in nanoseconds, to 1 %; for curves. None where the figures were read from CSV.
  std::optional<Histogram> latency;
};

// The histogram that Figures keep: up to ten minutes.
Histogram curve_histogram();
// Fills the quantiles, and the curve, from the exact histogram of a run's answers.
void set_latencies(Figures& figures, const Histogram& nanoseconds);

struct Measure {
  enum class Better { less, more };
  enum class Kind {
    time,   // milliseconds above 0: averaged and compared by ratio
    share,  // between 0 and 1, or near it: averaged and compared by difference
  };
  const char* key;    // in files: "p99_ms"
  const char* title;  // for people: "p99 (ms)"
  Better better;
  Kind kind;
  std::optional<double> (*of)(const Figures&);
  // By less than this, two figures cannot differ: what the histogram tells apart, as a ratio; or of a share, what counting does.
  double resolution;
};
// In the order of tables.
std::span<const Measure> measures();
const Measure& measure(const char* key);  // precondition: there is one

// A figure with its unit: "12.3 ms", "97.25 %".
std::string figure_text(const Measure& measure, double value);

}  // namespace hedgerow::lab::sweep
