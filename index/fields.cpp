#include "index/fields.hpp"

#include <xapian.h>

#include <charconv>
#include <chrono>
#include <cmath>

#include "base/random.hpp"
#include "base/sha256.hpp"
#include "index/query_tree.hpp"

namespace hedgerow::fields {

namespace {

std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int number = 0;
  const auto* end = text.data() + at + count;
  const auto [stopped, problem] = std::from_chars(text.data() + at, end, number);
  if (problem != std::errc{} || stopped != end || text[at] == '-') return std::nullopt;
  return number;
}

std::optional<RangeValue> parse_number(std::string_view text) {
  double number = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (text.empty() || problem != std::errc{} || stopped != end || !std::isfinite(number)) return std::nullopt;
  return RangeValue{ValueKind::number, number, number};
}

double seconds_of(std::chrono::sys_days day) {
  return static_cast<double>(std::chrono::seconds(day.time_since_epoch()).count());
}

// "2024-02", "2024-02-29", and a time behind a "T" or a blank: "12:00", "12:00:59", with or without a Z.
std::optional<RangeValue> parse_date(std::string_view text) {
  namespace chrono = std::chrono;
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  if (!year || !month || text[4] != '-') return std::nullopt;
  const chrono::year_month months{chrono::year(*year), chrono::month(static_cast<unsigned>(*month))};
  if (!months.ok()) return std::nullopt;
  if (text.size() == 7) {
    return RangeValue{ValueKind::date, seconds_of(months / 1), seconds_of((months + chrono::months(1)) / 1) - 1};
  }
  const auto day = digits(text, 8, 2);
  if (!day || text[7] != '-') return std::nullopt;
  const chrono::year_month_day date = months / *day;
  if (!date.ok()) return std::nullopt;
  const double midnight = seconds_of(date);
  if (text.size() == 10) return RangeValue{ValueKind::date, midnight, midnight + 86'399};

  if (text.ends_with('Z')) text.remove_suffix(1);
  const auto hour = digits(text, 11, 2);
  const auto minute = digits(text, 14, 2);
  const bool has_seconds = text.size() == 19;
  const auto second = has_seconds ? digits(text, 17, 2) : std::optional(0);
  const bool punctuated = (text[10] == 'T' || text[10] == ' ') && (text.size() == 16 || has_seconds) && text[13] == ':' &&
                          (!has_seconds || text[16] == ':');
  if (!punctuated || !hour || !minute || !second || *hour > 23 || *minute > 59 || *second > 59) return std::nullopt;
  const double instant = midnight + 3600.0 * *hour + 60.0 * *minute + *second;
  return RangeValue{ValueKind::date, instant, has_seconds ? instant : instant + 59};
}

std::uint32_t slot(std::string_view name) { return static_cast<std::uint32_t>(stable_hash(name) & 0x3fff'ffffu) * 2; }

}  // namespace

std::optional<std::string> title_term_of(std::string_view term) {
  constexpr std::string_view stem_prefix = "Z";
  const bool is_stem = term.starts_with(stem_prefix);
  const std::string_view word = is_stem ? term.substr(stem_prefix.size()) : term;
  // Words and stems are in lower case: a capital begins a prefix.
  if (word.empty() || (word.front() >= 'A' && word.front() <= 'Z')) return std::nullopt;
  return std::string(is_stem ? stem_prefix : "") + std::string(title_prefix) + std::string(word);
}

std::string id_term(std::string_view id) {
  std::string term(id_prefix);
  if (id_prefix.size() + id.size() <= longest_term_bytes) return term.append(id);
  return term.append("#").append(sha256_of(id));
}

std::string facet_term_prefix(std::string_view name) {
  std::string prefix(facet_prefix);
  for (const char byte : name) prefix.push_back(byte == ':' ? '\1' : byte);
  return prefix.append(":");
}

std::optional<std::string> facet_term(std::string_view name, std::string_view value) {
  std::string term = facet_term_prefix(name) + in_lower_case(value);
  if (term.size() > longest_term_bytes) return std::nullopt;
  return term;
}

std::string in_lower_case(std::string_view text) { return Xapian::Unicode::tolower(std::string(text)); }

std::uint32_t values_slot(std::string_view name) { return slot(name); }
std::uint32_t number_slot(std::string_view name) { return slot(name) + 1; }

std::string encode_values(const std::vector<std::string>& values) {
  std::string encoded;
  for (const std::string& value : values) {
    if (value.empty() || value.size() > 255) continue;
    encoded.push_back(static_cast<char>(static_cast<unsigned char>(value.size())));
    encoded += value;
  }
  return encoded;
}

std::vector<std::string> decode_values(std::string_view encoded) {
  std::vector<std::string> values;
  for (auto value = take_value(encoded); !value.empty(); value = take_value(encoded)) values.emplace_back(value);
  return values;
}

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::category: return "category";
    case ValueKind::number: return "number";
    case ValueKind::date: return "date";
  }
  return "";
}

std::optional<ValueKind> kind_of(std::string_view name) {
  for (const ValueKind kind : {ValueKind::category, ValueKind::number, ValueKind::date}) {
    if (name_of(kind) == name) return kind;
  }
  return std::nullopt;
}

std::optional<RangeValue> parse_range_value(std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  return parse_date(text);
}

std::optional<std::string> name_term(std::string_view name) {
  std::string term(name_prefix);
  for (const char character : in_lower_case(name)) {
    const bool blank = character == ' ' || character == '\t' || character == '\n' || character == '\r';
    if (!blank) {
      term += character;
    } else if (term.size() > name_prefix.size() && term.back() != ' ') {
      term += ' ';
    }
  }
  if (term.back() == ' ') term.pop_back();
  const std::size_t bytes = term.size() - name_prefix.size();
  if (bytes == 0 || bytes > longest_name_bytes) return std::nullopt;
  return term;
}

}  // namespace hedgerow::fields
