// W3C Trace Context: the traceparent header, read and passed on. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hedgerow::root {

struct TraceContext {
  std::string trace_id;   // 32 hexadecimal digits
  std::string parent_id;  // 16
  std::string flags;      // 2
};

// nullopt where the header is not a valid traceparent (it is then ignored, as the standard asks).
std::optional<TraceContext> parse_traceparent(std::string_view header);
// The header for our own span within the same trace; context as parse_traceparent made it.
std::string traceparent(const TraceContext& context, std::uint64_t span_id);

}  // namespace hedgerow::root
