#include "lab/latency_samples.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace hedgerow::lab {

namespace {

constexpr std::size_t most_samples = 20'000'000;

struct NamedUnit {
  std::string_view word;
  Duration unit;
};
// As they end a column's name, in lower case; the longer words before those that they end in.
constexpr std::array<NamedUnit, 18> unit_words{{{"nanoseconds", std::chrono::nanoseconds(1)},
                                                {"microseconds", std::chrono::microseconds(1)},
                                                {"milliseconds", std::chrono::milliseconds(1)},
                                                {"seconds", std::chrono::seconds(1)},
                                                {"nanos", std::chrono::nanoseconds(1)},
                                                {"micros", std::chrono::microseconds(1)},
                                                {"millis", std::chrono::milliseconds(1)},
                                                {"usec", std::chrono::microseconds(1)},
                                                {"msec", std::chrono::milliseconds(1)},
                                                {"nsec", std::chrono::nanoseconds(1)},
                                                {"secs", std::chrono::seconds(1)},
                                                {"sec", std::chrono::seconds(1)},
                                                {"ns", std::chrono::nanoseconds(1)},
                                                {"us", std::chrono::microseconds(1)},
                                                {"\u00b5s", std::chrono::microseconds(1)},  // the micro sign
                                                {"\u03bcs", std::chrono::microseconds(1)},  // the Greek letter
                                                {"ms", std::chrono::milliseconds(1)},
                                                {"s", std::chrono::seconds(1)}}};

// What is not ASCII may be one.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80; }

std::string_view bare(std::string_view cell) {
  constexpr std::string_view around = " \t\r\"";
  const auto first = cell.find_first_not_of(around);
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(around) - first + 1);
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Of "latency_ms", "latency (us)", "ms": a word of its own at the end.
std::optional<Duration> unit_in(std::string_view name) {
  std::string text = lower(name);
  while (!text.empty() && !is_letter(text.back())) text.pop_back();
  for (const auto& [word, unit] : unit_words) {
    if (!text.ends_with(word)) continue;
    const auto before = text.size() - word.size();
    if (before == 0 || !is_letter(text[before - 1])) return unit;
  }
  return std::nullopt;
}

bool looks_like_a_latency(std::string_view name) {
  const std::string text = lower(name);
  for (const std::string_view begin : {"latency", "response-time", "response_time", "response time", "duration", "elapsed"}) {
    if (text.starts_with(begin)) return true;
  }
  return std::any_of(unit_words.begin(), unit_words.end(), [&](const auto& entry) { return entry.word == text; });
}

// Cells between separators; one in quotes may hold them. Quotes within a cell are not undone: no number has them.
std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i == line.size() || (line[i] == separator && !quoted)) {
      cells.push_back(bare(line.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return cells;
}

char separator_of(std::string_view heading) {
  return heading.find('\t') != std::string_view::npos ? '\t' : heading.find(';') != std::string_view::npos ? ';' : ',';
}

bool begins_a_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == '>'; }

}  // namespace

LatencySamples::LatencySamples(std::optional<Duration> unit, std::string column) : unit_(unit), column_(std::move(column)) {}

bool LatencySamples::may_begin_with(std::string_view line) {
  if (bare(line).empty()) return false;
  if (begins_a_number(bare(line).front())) return true;
  const auto names = cells_of(line, separator_of(line));
  return std::any_of(names.begin(), names.end(), looks_like_a_latency);
}

result<void> LatencySamples::take(std::string_view line) {
  if (bare(line).empty() || bare(line).front() == '#') return {};
  if (first_line_) {
    first_line_ = false;
    if (!begins_a_number(bare(line).front())) return take_heading(line);
    if (!column_.empty()) return Error{Errc::invalid_argument, "no heading, and so no column '" + column_ + "'"};
  }
  if (separator_ == 0) return take_number(bare(line));
  const auto cells = cells_of(line, separator_);
  if (place_ >= cells.size()) return Error{Errc::input, "a row without the column '" + column_ + "'"};
  if (cells[place_].empty()) {
    ++empty_cells_;
    return {};
  }
  return take_number(cells[place_]);
}

result<void> LatencySamples::take_heading(std::string_view line) {
  separator_ = separator_of(line);
  const auto names = cells_of(line, separator_);
  const auto found = std::find_if(names.begin(), names.end(), [&](std::string_view name) {
    return column_.empty() ? looks_like_a_latency(name) : name == column_;
  });
  if (found == names.end()) {
    std::string columns;
    for (const auto& name : names) columns += (columns.empty() ? "" : ", ") + std::string(name.substr(0, 40));
    const std::string what = column_.empty() ? "no column looks like a latency" : "no column '" + column_ + "'";
    return Error{Errc::invalid_argument, what + "; there are: " + columns.substr(0, 400)};
  }
  place_ = static_cast<std::size_t>(found - names.begin());
  column_ = std::string(*found);
  if (const auto told = unit_in(column_)) {
    if (unit_ && *unit_ != *told) return Error{Errc::invalid_argument, "the column '" + column_ + "' tells another unit than was given"};
    unit_ = told;
  }
  return {};
}

result<void> LatencySamples::take_number(std::string_view text) {
  if (count() == most_samples) return Error{Errc::too_large, "more than 20 million samples"};
  auto& samples = text.front() == '>' ? given_up_ : latencies_;
  if (text.front() == '>') text = bare(text.substr(1));
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string no_latency = "'" + std::string(text.substr(0, 40)) + "' is no latency" +
                                 (separator_ == 0 && text.find_first_of(",;\t") != std::string_view::npos ? " (a table needs a heading that names its columns)" : "");
  if (error != std::errc{} || !(number >= 0) || !std::isfinite(number)) return Error{Errc::input, no_latency};
  const auto word = bare(text.substr(static_cast<std::size_t>(end - text.data())));
  std::optional<Duration> unit = unit_;
  if (!word.empty()) {
    const auto named = std::find_if(unit_words.begin(), unit_words.end(), [&](const auto& entry) { return entry.word == word; });
    if (named == unit_words.end()) return Error{Errc::input, no_latency};
    unit = named->unit;
  }
  if (!unit) return Error{Errc::invalid_argument, "numbers without a unit: say which with --unit"};
  const double nanoseconds = number * static_cast<double>(unit->count());
  if (nanoseconds > 1e18) return Error{Errc::input, "'" + std::string(text.substr(0, 40)) + "' is longer than thirty years"};
  samples.push_back(Duration(std::llround(nanoseconds)));
  return {};
}

LatencyCounts LatencySamples::counts_of(std::vector<Duration>& samples) {
  std::sort(samples.begin(), samples.end());
  std::vector<LatencyCounts::Bucket> buckets;
  for (const auto sample : samples) {
    if (!buckets.empty() && buckets.back().lowest == sample) {
      ++buckets.back().count;
    } else {
      buckets.push_back({sample, sample, 1});
    }
  }
  samples = {};
  return LatencyCounts(std::move(buckets));
}

}  // namespace hedgerow::lab
