#include "lab/hdr/percentile_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "lab/hdr/encoding.hpp"

namespace hedgerow::lab::hdr {

namespace {

constexpr std::string_view unit_words[] = {"ns", "us", "ms", "s"};
constexpr Duration units[] = {std::chrono::nanoseconds(1), std::chrono::microseconds(1), std::chrono::milliseconds(1),
                              std::chrono::seconds(1)};

// Powers of two that it takes from the first buckets' end to the highest value: what that library calls its buckets.
int powers_of_two(const Histogram& histogram) {
  const int first = histogram.precision_bits() + 1;
  return std::max(0, static_cast<int>(std::bit_width(histogram.highest())) - first) + 1;
}

double middle(const Histogram::Bucket& bucket) {
  return static_cast<double>(bucket.lowest + (bucket.highest - bucket.lowest + 1) / 2);
}

// Java rounds 0.9997802734375 to 12 places upwards; C takes the nearest double, which lies below, and rounds it downwards.
constexpr double upwards = 1e-15;

template <class... Values>
void add_line(std::string& text, const char* format, Values... values) {
  char line[160];
  std::snprintf(line, sizeof line, format, values...);
  text += line;
}

// The columns of a line, between blanks. At most five: a spectrum's line has four or three.
std::vector<std::string_view> columns_of(std::string_view line) {
  constexpr std::string_view blanks = " \t\r";
  std::vector<std::string_view> columns;
  for (auto at = line.find_first_not_of(blanks); at != std::string_view::npos && columns.size() < 5;
       at = line.find_first_not_of(blanks, at)) {
    const auto end = std::min(line.find_first_of(blanks, at), line.size());
    columns.push_back(line.substr(at, end - at));
    at = end;
  }
  return columns;
}

template <class Number>
bool read(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string unit_comment(Duration unit) {
  const auto place = std::find(std::begin(units), std::end(units), unit) - std::begin(units);
  return "#[Unit    = " + std::string(unit_words[std::min<std::ptrdiff_t>(place, 3)]) + "]\n";
}

std::optional<Duration> unit_of_comment(std::string_view line) {
  if (!line.starts_with("#[Unit")) return std::nullopt;
  for (std::size_t i = 0; i < std::size(unit_words); ++i) {
    std::string end = " " + std::string(unit_words[i]) + "]";
    if (line.ends_with(end)) return units[i];
  }
  return std::nullopt;
}

// The lines that the Java implementation's iterator stops at: at each bucket that reaches the next percentile wanted,
// where the steps halve with every halving of the distance to 100 %.
std::string percentile_text(const Histogram& nanoseconds, Duration unit, int ticks) {
  const int digits = digits_of(nanoseconds);
  const auto scale = static_cast<double>(unit.count());
  const auto total = static_cast<double>(nanoseconds.count());
  const auto buckets = nanoseconds.buckets();
  std::string text;
  add_line(text, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");

  double wanted = 0, sum = 0;  // wanted: per cent
  std::uint64_t up_to = 0;
  for (const auto& bucket : buckets) {
    up_to += bucket.count;
    sum += middle(bucket) * static_cast<double>(bucket.count);
    while (wanted < 100 && 100 * static_cast<double>(up_to) / total >= wanted) {
      add_line(text, "%12.*f %2.12f %10llu %14.2f\n", digits, static_cast<double>(bucket.highest) / scale, wanted / 100 + upwards,
               static_cast<unsigned long long>(up_to), 1 / (1 - wanted / 100));
      const auto halvings = static_cast<long>(std::log(100 / (100 - wanted)) / std::log(2.0)) + 1;
      wanted += 100 / (ticks * std::pow(2.0, static_cast<double>(halvings)));
      // The last bucket's further lines are the one of 100 %.
      if (up_to == nanoseconds.count()) break;
    }
  }
  const double highest = buckets.empty() ? 0 : static_cast<double>(buckets.back().highest);
  if (!buckets.empty()) {
    add_line(text, "%12.*f %2.12f %10llu\n", digits, highest / scale, 1.0, static_cast<unsigned long long>(up_to));
  }

  const double mean = total > 0 ? sum / total : 0;
  double squares = 0;
  for (const auto& bucket : buckets) squares += (middle(bucket) - mean) * (middle(bucket) - mean) * static_cast<double>(bucket.count);
  const double deviation = total > 0 ? std::sqrt(squares / total) : 0;
  add_line(text, "#[Mean    = %12.*f, StdDeviation   = %12.*f]\n", digits, mean / scale, digits, deviation / scale);
  add_line(text, "#[Max     = %12.*f, Total count    = %12llu]\n", digits, highest / scale, static_cast<unsigned long long>(up_to));
  add_line(text, "#[Buckets = %12d, SubBuckets     = %12d]\n", powers_of_two(nanoseconds), 2 << nanoseconds.precision_bits());
  return text + unit_comment(unit);
}

bool PercentileReader::is_heading(std::string_view line) {
  const auto columns = columns_of(line);
  return columns.size() >= 3 && columns[0] == "Value" && columns[1] == "Percentile" && columns[2] == "TotalCount";
}

result<void> PercentileReader::take(std::string_view line) {
  if (is_heading(line)) {
    if (place_ != Place::before) return Error{Errc::input, "a second spectrum in one file"};
    place_ = Place::within;
    return {};
  }
  if (place_ != Place::within) return {};
  const auto columns = columns_of(line);
  if (columns.empty()) return {};
  if (columns.front().starts_with('#')) {
    if (columns.front().starts_with("#[Max")) place_ = Place::behind;
    return {};
  }
  Row row{};
  double percentile = 0;
  if (columns.size() < 3 || columns.size() > 4 || !read(columns[0], row.value) || !read(columns[1], percentile) ||
      !read(columns[2], row.up_to) || !(row.value >= 0) || !std::isfinite(row.value)) {
    return Error{Errc::input, "not a line of Value, Percentile, TotalCount"};
  }
  if (!rows_.empty() && (row.value < rows_.back().value || row.up_to < rows_.back().up_to)) {
    return Error{Errc::input, "values and counts must not fall from line to line"};
  }
  rows_.push_back(row);
  return {};
}

}  // namespace hedgerow::lab::hdr
