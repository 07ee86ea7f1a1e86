// Single latencies out of lines of text: numbers with a unit or without, a line each, or one column of a table. The
// forms that lab/latency_file tells of as "samples". Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/latency_counts.hpp"

namespace hedgerow::lab {

class LatencySamples {
 public:
  // unit: of numbers that say none. column: of a table; empty: the one that looks like a latency.
  LatencySamples(std::optional<Duration> unit, std::string column);

  // Whether a file's first line of content says that samples follow: a number, or a heading with a column that looks like a
  // latency.
  static bool may_begin_with(std::string_view line);

  // Blank lines and those that begin with "#" are passed over. Errors: input (no number; a row too short), too_large
  // (beyond 20 million), invalid_argument (a number without a unit, and none known; no column that fits; a heading's unit that is
  // not the one that was given).
  result<void> take(std::string_view line);

  std::uint64_t count() const { return latencies_.size() + given_up_.size(); }
  // Of numbers without a unit of their own; nothing until it is known.
  std::optional<Duration> unit() const { return unit_; }
  // Takes out what was read.
  LatencyCounts latencies() { return counts_of(latencies_); }
  LatencyCounts given_up() { return counts_of(given_up_); }
  // Cells that held nothing: a table's rows without a latency.
  std::uint64_t empty_cells() const { return empty_cells_; }
  const std::string& column() const { return column_; }

 private:
  result<void> take_heading(std::string_view line);
  result<void> take_number(std::string_view text);
  static LatencyCounts counts_of(std::vector<Duration>& samples);

  std::optional<Duration> unit_;
  std::string column_;
  bool first_line_ = true;
  char separator_ = 0;    // of a table; 0: no table
  std::size_t place_ = 0;  // of the column
  std::vector<Duration> latencies_, given_up_;
  std::uint64_t empty_cells_ = 0;
};

}  // namespace hedgerow::lab
