#include "reference_fields.hpp"

#include <time.h>

#include <cstdlib>
#include <regex>

namespace hedgerow::test {

namespace {

double seconds_at(int year, int month, int day, int hour, int minute, int second) {
  std::tm moment{};
  moment.tm_year = year - 1900;
  moment.tm_mon = month - 1;
  moment.tm_mday = day;
  moment.tm_hour = hour;
  moment.tm_min = minute;
  moment.tm_sec = second;
  return static_cast<double>(::timegm(&moment));
}

int days_in(int year, int month) {
  // The day before the next month's first.
  return static_cast<int>((seconds_at(year, month + 1, 1, 0, 0, 0) - seconds_at(year, month, 1, 0, 0, 0)) / 86'400);
}

}  // namespace

std::optional<Span> span_of(const std::string& text) {
  static const std::regex number("-?[0-9]+(\\.[0-9]+)?");
  if (std::regex_match(text, number)) {
    const double value = std::strtod(text.c_str(), nullptr);
    return Span{FacetKind::number, value, value};
  }
  static const std::regex date("([0-9]{4})-([0-9]{2})(?:-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?Z?)?)?",
                               std::regex::icase);
  std::smatch part;
  if (!std::regex_match(text, part, date)) return std::nullopt;
  const auto read = [&](std::size_t i) { return part[i].matched ? std::atoi(part[i].str().c_str()) : 0; };
  const int year = read(1), month = read(2), day = read(3), hour = read(4), minute = read(5), second = read(6);
  if (month < 1 || month > 12 || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  if (!part[3].matched) {
    return Span{FacetKind::date, seconds_at(year, month, 1, 0, 0, 0), seconds_at(year, month + 1, 1, 0, 0, 0) - 1};
  }
  if (day < 1 || day > days_in(year, month)) return std::nullopt;
  const double first = seconds_at(year, month, day, hour, minute, second);
  const double length = !part[4].matched ? 86'400 : !part[6].matched ? 60 : 1;
  return Span{FacetKind::date, first, first + length - 1};
}

std::string facet_term_of(std::string_view name, std::string_view value) {
  return "XF" + std::string(name) + ":" + Xapian::Unicode::tolower(std::string(value));
}

}  // namespace hedgerow::test
