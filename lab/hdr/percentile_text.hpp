// HdrHistogram's percentile text (".hgrm"): what its plotter and many tools read, in the very columns that the Java
// implementation prints.
//
//        Value     Percentile TotalCount 1/(1-Percentile)
//
//        0.921 0.000000000000          1           1.00
//        …
//   #[Mean    =        1.093, StdDeviation   =        0.291]
//   #[Max     =       12.407, Total count    =        10000]
//   #[Buckets =           29, SubBuckets     =         2048]
//
// No unit stands in that form; ours adds a comment that tells it, which other readers pass over. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/histogram.hpp"

namespace hedgerow::lab::hdr {

// Of a histogram whose numbers are nanoseconds, with values in the unit. ticks: lines for each halving of what is left.
// Mean and deviation are of the buckets' middles, as that library reckons them.
std::string percentile_text(const Histogram& nanoseconds, Duration unit = std::chrono::milliseconds(1), int ticks = 5);
// "#[Unit    = ms]"
std::string unit_comment(Duration unit);
// The unit that a comment tells; nullopt for any other line.
std::optional<Duration> unit_of_comment(std::string_view line);

// Reads line by line, from the heading on to the line that tells the maximum; what stands around the spectrum (as wrk2
// prints it in the midst of its report) is passed over.
class PercentileReader {
 public:
  struct Row {
    double value;           // in the file's unit, which is unknown here
    std::uint64_t up_to;    // so many are not larger
  };

  static bool is_heading(std::string_view line);
  // Errors: input for a line within the spectrum that is none of it, or falls.
  result<void> take(std::string_view line);
  // Rising.
  const std::vector<Row>& rows() const { return rows_; }

 private:
  enum class Place { before, within, behind } place_ = Place::before;
  std::vector<Row> rows_;
};

}  // namespace hedgerow::lab::hdr
