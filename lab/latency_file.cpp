#include "lab/latency_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "corpus/line_stream.hpp"
#include "lab/hdr/interval_log.hpp"
#include "lab/hdr/percentile_text.hpp"
#include "lab/latency_samples.hpp"

namespace hedgerow::lab {

namespace {

// A histogram of five digits over all values takes a few MiB in one line.
constexpr std::uint64_t longest_log_line = 64u << 20;
constexpr std::size_t most_buckets = 20'000'000;
constexpr std::string_view given_up_tag = "given_up";

result<Duration> in_nanoseconds(double value, Duration unit) {
  const double nanoseconds = value * static_cast<double>(unit.count());
  if (!(nanoseconds <= 1e18)) return Error{Errc::input, "a latency longer than thirty years: is the unit right?"};
  return Duration(std::llround(nanoseconds));
}

// One file on its way into a LatencyFile.
class Reading {
 public:
  explicit Reading(const LatencyFileSettings& settings) : settings_(settings), samples_(settings.unit, settings.column) {}

  result<void> take(std::string_view line) {
    if (const auto told = hdr::unit_of_comment(line)) told_unit_ = *told;
    if (!form_) {
      if (auto fault = recognise(line)) return std::move(*fault);
      if (!form_) return {};
    }
    switch (*form_) {
      case LatencyForm::interval_log: return take_interval(line);
      case LatencyForm::percentiles: return percentiles_.take(line);
      case LatencyForm::samples: return samples_.take(line);
    }
    return {};
  }

  result<LatencyFile> end() {
    if (!form_ && !prose_) return Error{Errc::input, "holds no latencies"};
    if (!form_) {
      return Error{Errc::input, "neither an interval log, nor a percentiles file, nor samples (of a table, say which column with --column)"};
    }
    if (*form_ != LatencyForm::samples && !settings_.column.empty()) {
      return Error{Errc::invalid_argument, "--column is for tables of samples"};
    }
    if (*form_ != LatencyForm::interval_log && !settings_.tag.empty()) {
      return Error{Errc::invalid_argument, "--tag is for interval logs"};
    }
    file_.form = *form_;
    auto ended = *form_ == LatencyForm::interval_log  ? end_log()
                 : *form_ == LatencyForm::percentiles ? end_percentiles()
                                                      : end_samples();
    if (!ended) return ended.error();
    if (file_.latencies.count() == 0) {
      return Error{Errc::input, left_out_.empty() ? "holds no latencies" : "holds no latencies with that tag"};
    }
    return std::move(file_);
  }

 private:
  // What the file is, from its first line that is neither blank nor a comment; where that is prose (wrk2's report), from
  // the heading of a spectrum below. An interval log tells itself in a comment.
  std::optional<Error> recognise(std::string_view line) {
    const auto first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return std::nullopt;
    const bool log = hdr::is_interval_log_line(line) || (line[first] != '#' && line.find("HISTFAAA") != std::string_view::npos);
    if (log) {
      form_ = LatencyForm::interval_log;
    } else if (hdr::PercentileReader::is_heading(line)) {
      form_ = LatencyForm::percentiles;
    } else if (line[first] == '{' && !prose_) {
      return Error{Errc::input, "JSON is not read: give samples, a table, or a histogram (a report of load holds some quantiles and no distribution: give a file of its --hlog, --hgrm or --samples)"};
    } else if (line[first] != '#' && !prose_) {
      const bool samples = !settings_.column.empty() || LatencySamples::may_begin_with(line);
      if (samples) form_ = LatencyForm::samples;
      prose_ = !samples;
    }
    return std::nullopt;
  }

  result<Duration> unit_or(std::optional<Duration> otherwise) const {
    if (settings_.unit && told_unit_ && *settings_.unit != *told_unit_) {
      return Error{Errc::invalid_argument, "the file tells another unit than was given"};
    }
    if (settings_.unit) return *settings_.unit;
    if (told_unit_) return *told_unit_;
    if (otherwise) return *otherwise;
    return Error{Errc::invalid_argument, "a percentiles file that tells no unit: say which with --unit"};
  }

  result<void> take_interval(std::string_view line) {
    auto interval = hdr::read_interval(line);
    if (!interval) return interval.error();
    if (!*interval) return {};
    const std::string& tag = (*interval)->tag;
    const bool given_up = settings_.tag.empty() && tag == given_up_tag;
    if (tag != settings_.tag && !given_up) {
      ++left_out_[tag];
      return {};
    }
    // By both ends, so that intervals of different precision add up as well.
    auto& counts = given_up ? given_up_ : latencies_;
    for (const auto& [lowest, highest, count] : (*interval)->histogram.buckets) counts[{lowest, highest}] += count;
    if (counts.size() > most_buckets) return Error{Errc::too_large, "more than 20 million buckets"};
    return {};
  }

  result<void> end_log() {
    const auto unit = unit_or(std::chrono::nanoseconds(1));
    if (!unit) return unit.error();
    file_.unit = *unit;
    for (auto [counts, into] : {std::pair(&latencies_, &file_.latencies), std::pair(&given_up_, &file_.given_up)}) {
      std::vector<LatencyCounts::Bucket> buckets;
      for (const auto& [ends, count] : *counts) {
        const auto lowest = in_nanoseconds(static_cast<double>(ends.first), *unit);
        const auto highest = in_nanoseconds(static_cast<double>(ends.second), *unit);
        if (!highest) return highest.error();
        buckets.push_back({*lowest, *highest, count});
      }
      *into = LatencyCounts(std::move(buckets));
    }
    for (const auto& [tag, count] : left_out_) {
      const std::string which = tag.empty() ? std::string("without a tag") : "tagged '" + tag + "'";
      file_.notes.push_back("left out: " + std::to_string(count) + (count == 1 ? " interval " : " intervals ") + which);
    }
    return {};
  }

  // What lies between two lines is somewhere between their values.
  result<void> end_percentiles() {
    const auto unit = unit_or(std::nullopt);
    if (!unit) return unit.error();
    file_.unit = *unit;
    std::vector<LatencyCounts::Bucket> buckets;
    std::uint64_t so_far = 0;
    std::optional<Duration> before;
    for (const auto& [value, up_to] : percentiles_.rows()) {
      const auto latency = in_nanoseconds(value, *unit);
      if (!latency) return latency.error();
      buckets.push_back({before.value_or(*latency), *latency, up_to - so_far});
      so_far = up_to;
      before = *latency;
    }
    file_.latencies = LatencyCounts(std::move(buckets));
    file_.notes.push_back("a percentiles file is as fine as its " + std::to_string(percentiles_.rows().size()) +
                          " lines: what lies between two of them is taken to be spread evenly");
    return {};
  }

  result<void> end_samples() {
    file_.unit = samples_.unit().value_or(Duration(1));
    file_.latencies = samples_.latencies();
    file_.given_up = samples_.given_up();
    if (samples_.empty_cells() > 0) {
      file_.notes.push_back("left out: " + std::to_string(samples_.empty_cells()) + " rows without a value in '" + samples_.column() + "'");
    }
    return {};
  }

  const LatencyFileSettings& settings_;
  std::optional<LatencyForm> form_;
  bool prose_ = false;
  std::optional<Duration> told_unit_;
  // Of an interval log, in its unit.
  using Counts = std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t>;
  Counts latencies_, given_up_;
  std::map<std::string, std::uint64_t> left_out_;
  hdr::PercentileReader percentiles_;
  LatencySamples samples_;
  LatencyFile file_;
};

}  // namespace

std::string_view to_string(LatencyForm form) {
  switch (form) {
    case LatencyForm::interval_log: return "interval log";
    case LatencyForm::percentiles: return "percentiles";
    case LatencyForm::samples: return "samples";
  }
  return "samples";
}

result<Duration> parse_latency_unit(std::string_view word) {
  if (word == "ns") return std::chrono::nanoseconds(1);
  if (word == "us") return std::chrono::microseconds(1);
  if (word == "ms") return std::chrono::milliseconds(1);
  if (word == "s") return std::chrono::seconds(1);
  return Error{Errc::invalid_argument, "'" + std::string(word.substr(0, 40)) + "' is no unit; there are ns, us, ms and s"};
}

result<LatencyFile> read_latency_file(const std::filesystem::path& path, const LatencyFileSettings& settings) {
  auto lines = LineStream::open(path, longest_log_line);
  if (!lines) return lines.error();
  Reading reading(settings);
  for (;;) {
    const auto outcome = lines->next();
    if (std::holds_alternative<EndOfCorpus>(outcome)) break;
    if (const auto* failed = std::get_if<ReadError>(&outcome)) return Error{Errc::input, to_string(*failed)};
    const auto taken = reading.take(std::get<Line>(outcome).text);
    if (!taken) {
      return Error{taken.error().code, path.string() + ":" + std::to_string(lines->line()) + ": " + taken.error().context};
    }
  }
  auto file = reading.end();
  if (!file) return Error{file.error().code, path.string() + ": " + file.error().context};
  return file;
}

}  // namespace hedgerow::lab
