// HdrHistogram's interval log (".hlog", version 1.3): a line for each interval of time, that holds all latencies of it as
// a compressed histogram. Intervals can be added up, cut and compared later, with this laboratory's commands and with
// other tools (HistogramLogAnalyzer, HdrHistogram's own log processor, hdr-histogram-js, …).
//
//   #[Histogram log format version 1.3]
//   #[StartTime: 1764496245.000 (seconds since epoch), Sun Nov 30 09:50:45 2025]
//   "StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"
//   0.000,1.000,2.769,HISTFAAAAEV42p…
//   Tag=others,0.000,1.000,10.004,HISTFAAAAEV42p…
//
// Seconds since the start; the interval's longest in milliseconds; histograms of nanoseconds. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/histogram.hpp"
#include "lab/hdr/encoding.hpp"

namespace hedgerow::lab::hdr {

// The lines before the first interval; about: one line of what the latencies are of.
std::string interval_log_head(std::chrono::system_clock::time_point start, std::string_view about);
// tag: one word, or empty. No comma, blank or line break in it.
std::string interval_line(Duration begin, Duration length, const Histogram& nanoseconds, std::string_view tag = {});

struct Interval {
  std::string tag;
  double begin_seconds = 0, length_seconds = 0;
  Decoded histogram;
};

// The heading in quotes, or the comment that tells the version.
bool is_interval_log_line(std::string_view line);
// nullopt for comments, the heading and blank lines. Errors: input; those of decode_base64.
result<std::optional<Interval>> read_interval(std::string_view line);

}  // namespace hedgerow::lab::hdr
