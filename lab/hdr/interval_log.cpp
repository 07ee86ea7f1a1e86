#include "lab/hdr/interval_log.hpp"

#include <cassert>
#include <charconv>
#include <cstdio>
#include <ctime>

#include "lab/hdr/percentile_text.hpp"

namespace hedgerow::lab::hdr {

namespace {

constexpr std::string_view version_comment = "#[Histogram log format version ";
constexpr std::string_view heading = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// The part before the next comma, which is taken away with it.
std::string_view next_column(std::string_view& line) {
  const auto comma = line.find(',');
  const auto column = without_blanks(line.substr(0, comma));
  line.remove_prefix(comma == std::string_view::npos ? line.size() : comma + 1);
  return column;
}

std::optional<double> seconds_of(std::string_view column) {
  double value = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), value);
  if (error != std::errc{} || end != column.data() + column.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string interval_log_head(std::chrono::system_clock::time_point start, std::string_view about) {
  const double seconds = std::chrono::duration<double>(start.time_since_epoch()).count();
  const std::time_t whole = std::chrono::system_clock::to_time_t(start);
  std::tm parts{};
  gmtime_r(&whole, &parts);
  char date[64], line[160];
  std::strftime(date, sizeof date, "%a %b %d %H:%M:%S UTC %Y", &parts);
  std::snprintf(line, sizeof line, "#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, date);
  return "#[" + std::string(about) + "]\n" + std::string(version_comment) + "1.3]\n" + line +
         unit_comment(std::chrono::nanoseconds(1)) + std::string(heading) + "\n";
}

std::string interval_line(Duration begin, Duration length, const Histogram& nanoseconds, std::string_view tag) {
  assert(tag.find_first_of(", \t\r\n") == std::string_view::npos);
  const auto buckets = nanoseconds.buckets();
  char columns[96];
  std::snprintf(columns, sizeof columns, "%.3f,%.3f,%.3f,", to_seconds(begin), to_seconds(length),
                buckets.empty() ? 0.0 : static_cast<double>(buckets.back().highest) / 1e6);
  std::string line;
  if (!tag.empty()) line = "Tag=" + std::string(tag) + ",";
  return line + columns + encode_base64(nanoseconds) + "\n";
}

bool is_interval_log_line(std::string_view line) {
  return line.starts_with(version_comment) || line.starts_with("\"StartTimestamp\"");
}

result<std::optional<Interval>> read_interval(std::string_view line) {
  line = without_blanks(line);
  if (line.empty() || line.front() == '#' || line.front() == '"') return std::optional<Interval>();
  Interval interval;
  if (line.starts_with("Tag=")) interval.tag = next_column(line).substr(4);
  const auto begin = seconds_of(next_column(line)), length = seconds_of(next_column(line)), longest = seconds_of(next_column(line));
  if (!begin || !length || !longest) return Error{Errc::input, "not a line of start, length, maximum and histogram"};
  auto histogram = decode_base64(line);
  if (!histogram) return histogram.error();
  interval.begin_seconds = *begin;
  interval.length_seconds = *length;
  interval.histogram = std::move(*histogram);
  return std::optional(std::move(interval));
}

}  // namespace hedgerow::lab::hdr
