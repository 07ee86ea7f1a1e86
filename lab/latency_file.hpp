// Files of latencies, of this laboratory's load or of any other tool, read into one form. Recognised by what stands in
// them, compressed or not:
//
//   interval log   HdrHistogram's: a line for each interval, with a compressed histogram ("HISTFAAAA…") in its last
//                  column. All intervals add up. Numbers are nanoseconds, as that library advises, unless the unit is
//                  given (some tools log microseconds).
//   percentiles    HdrHistogram's text ("Value Percentile TotalCount 1/(1-Percentile)"), as wrk2 and others print it: as
//                  fine as its lines lie.
//   samples        a number a line, with a unit ("12.5ms") or without; ">250ms" was given up after that time. Or a table
//                  with a heading, whose columns stand between commas, semicolons or tabs: the column that is asked for,
//                  else the first whose name begins with latency, response-time, duration or elapsed, or is a unit. A name that
//                  ends in a unit (latency_ms, "latency (us)") tells it.
//
// Lines that begin with "#" are comments; a percentiles file and an interval log of ours tell their unit in one.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/latency_counts.hpp"

namespace hedgerow::lab {

enum class LatencyForm { interval_log, percentiles, samples };
std::string_view to_string(LatencyForm form);

struct LatencyFileSettings {
  // Of numbers that say none. Where the file says one that is another, the file is refused.
  std::optional<Duration> unit = {};
  // Of a table of samples; by its name.
  std::string column = {};
  // Of an interval log: the lines with this tag, instead of those without one.
  std::string tag = {};
};

struct LatencyFile {
  LatencyForm form = LatencyForm::samples;
  Duration unit{1};  // what a 1 in the file stands for
  LatencyCounts latencies;
  // Of work that was given up after so long, nobody knows how long it would have taken (root/policy/cluster/latency_model
  // tells how such samples count): samples with ">", and the lines of an interval log that are tagged `given_up`.
  LatencyCounts given_up;
  // What its reader should know, a sentence each: tags that were left out, a spectrum of few lines, …
  std::vector<std::string> notes;
};

// "ns", "us", "ms", "s". Errors: invalid_argument.
result<Duration> parse_latency_unit(std::string_view word);

// At most 20 million samples, and as many buckets. Errors: not_found, io, too_large; input or corrupt, naming the line, for
// what is none of the forms, is damaged or holds nothing (the JSON report of `load` holds no distribution, and is refused
// with a word on what to give instead); invalid_argument where no unit is known, no column fits, or the settings are none for
// that form; unsupported for histograms of an older encoding.
result<LatencyFile> read_latency_file(const std::filesystem::path& path, const LatencyFileSettings& settings = {});

}  // namespace hedgerow::lab
