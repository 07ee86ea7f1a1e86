#include "root/trace_context.hpp"

#include <algorithm>
#include <cstdio>

namespace hedgerow::root {

std::optional<TraceContext> parse_traceparent(std::string_view header) {
  const auto hexadecimal = [](std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  };
  const auto all_zero = [](std::string_view text) { return text.find_first_not_of('0') == std::string_view::npos; };
  if (header.size() < 55 || header[2] != '-' || header[35] != '-' || header[52] != '-') return std::nullopt;
  const auto version = header.substr(0, 2);
  if (!hexadecimal(version) || version == "ff") return std::nullopt;
  // Version 00 is exactly this long; later ones may go on behind another dash.
  if (header.size() > 55 && (version == "00" || header[55] != '-')) return std::nullopt;
  const auto trace_id = header.substr(3, 32), parent_id = header.substr(36, 16), flags = header.substr(53, 2);
  if (!hexadecimal(trace_id) || !hexadecimal(parent_id) || !hexadecimal(flags)) return std::nullopt;
  if (all_zero(trace_id) || all_zero(parent_id)) return std::nullopt;
  return TraceContext{std::string(trace_id), std::string(parent_id), std::string(flags)};
}

std::string traceparent(const TraceContext& context, std::uint64_t span_id) {
  char span[17];
  std::snprintf(span, sizeof span, "%016llx", static_cast<unsigned long long>(span_id | 1));
  // Of the flags, version 00 knows one, "sampled"; what it does not know is passed on as 0.
  const bool sampled = std::string_view("13579bdf").find(context.flags.back()) != std::string_view::npos;
  return "00-" + context.trace_id + "-" + span + (sampled ? "-01" : "-00");
}

}  // namespace hedgerow::root
