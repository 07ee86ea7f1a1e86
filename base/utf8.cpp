#include "base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace hedgerow {

namespace {

// One step through the bytes: a whole character, or the longest part of one that is ill-formed.
struct Step {
  std::size_t length;
  bool valid;
};

Step step_at(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char lead = byte(at);
  if (lead < 0x80) return {1, true};

  // How many bytes follow, and what the first of them may be.
  std::size_t following = 0;
  unsigned char lowest = 0x80;
  unsigned char highest = 0xbf;
  if (lead >= 0xc2 && lead <= 0xdf) {
    following = 1;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    following = 2;
    if (lead == 0xe0) lowest = 0xa0;
    if (lead == 0xed) highest = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    following = 3;
    if (lead == 0xf0) lowest = 0x90;
    if (lead == 0xf4) highest = 0x8f;
  } else {
    return {1, false};
  }
  for (std::size_t i = 1; i <= following; ++i) {
    if (at + i >= bytes.size() || byte(at + i) < lowest || byte(at + i) > highest) return {i, false};
    lowest = 0x80;
    highest = 0xbf;
  }
  return {following + 1, true};
}

// The position from at on of the first byte that is not ASCII, eight at a time.
std::size_t skip_ascii(std::string_view bytes, std::size_t at) {
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080ULL) != 0) break;
  }
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  return at;
}

// The position of the first ill-formed part, or the size.
std::size_t first_invalid(std::string_view bytes) {
  for (std::size_t at = skip_ascii(bytes, 0); at < bytes.size(); at = skip_ascii(bytes, at)) {
    const Step step = step_at(bytes, at);
    if (!step.valid) return at;
    at += step.length;
  }
  return bytes.size();
}

}  // namespace

bool is_valid_utf8(std::string_view bytes) { return first_invalid(bytes) == bytes.size(); }

std::size_t repair_utf8(std::string& text) {
  const std::size_t first = first_invalid(text);
  if (first == text.size()) return 0;

  std::string repaired = text.substr(0, first);
  std::size_t replacements = 0;
  for (std::size_t at = first; at < text.size();) {
    const Step step = step_at(text, at);
    if (step.valid) {
      repaired.append(text, at, step.length);
    } else {
      repaired += "\xef\xbf\xbd";
      ++replacements;
    }
    at += step.length;
  }
  text = std::move(repaired);
  return replacements;
}

}  // namespace hedgerow
