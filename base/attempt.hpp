// Two words that root, leaf and the wire between them share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hedgerow {

enum class ServiceClass : std::uint8_t { interactive, batch };

// A retry follows a fast failure, a hedge follows silence; a probe asks a leaf on probation.
enum class AttemptKind : std::uint8_t { primary, retry, hedge, tied, canary, probe };
constexpr std::size_t attempt_kinds = 6;

constexpr std::string_view to_string(ServiceClass service_class) {
  return service_class == ServiceClass::batch ? "batch" : "interactive";
}

constexpr std::string_view to_string(AttemptKind kind) {
  switch (kind) {
    case AttemptKind::primary: return "primary";
    case AttemptKind::retry: return "retry";
    case AttemptKind::hedge: return "hedge";
    case AttemptKind::tied: return "tied";
    case AttemptKind::canary: return "canary";
    case AttemptKind::probe: return "probe";
  }
  return "primary";
}

}  // namespace hedgerow
