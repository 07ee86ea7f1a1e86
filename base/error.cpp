#include "base/error.hpp"

#include <stdexcept>

namespace hedgerow {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::not_found: return "not_found";
    case Errc::unsupported: return "unsupported";
    case Errc::corrupt: return "corrupt";
    case Errc::input: return "input";
    case Errc::io: return "io";
    case Errc::too_large: return "too_large";
    case Errc::refused: return "refused";
    case Errc::expired: return "expired";
    case Errc::cancelled: return "cancelled";
    case Errc::unavailable: return "unavailable";
    case Errc::protocol: return "protocol";
    case Errc::internal: return "internal";
  }
  return "internal";
}

std::string to_string(const Error& error) {
  std::string text{to_string(error.code)};
  if (!error.context.empty()) text += ": " + error.context;
  return text;
}

void throw_exception_from_error(const Error& error, const boost::source_location&) {
  throw std::runtime_error(to_string(error));
}

}  // namespace hedgerow
