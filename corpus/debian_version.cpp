#include "corpus/debian_version.hpp"

namespace hedgerow {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// "~" sorts before the end, the end and digits before letters, letters before everything else.
int weight(std::string_view text) {
  if (text.empty() || is_digit(text.front())) return 0;
  const char c = text.front();
  if (c == '~') return -1;
  return is_letter(c) ? c : static_cast<unsigned char>(c) + 256;
}

std::string_view take_number(std::string_view& text) {
  while (!text.empty() && text.front() == '0') text.remove_prefix(1);
  std::size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  const std::string_view number = text.substr(0, digits);
  text.remove_prefix(digits);
  return number;
}

// Stretches of other characters and of digits, in turn.
std::weak_ordering compare_part(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    while ((!a.empty() && !is_digit(a.front())) || (!b.empty() && !is_digit(b.front()))) {
      if (const auto order = weight(a) <=> weight(b); order != 0) return order;
      a.remove_prefix(a.empty() ? 0 : 1);
      b.remove_prefix(b.empty() ? 0 : 1);
    }
    const std::string_view x = take_number(a);
    const std::string_view y = take_number(b);
    if (const auto order = x.size() <=> y.size(); order != 0) return order;
    if (const auto order = x.compare(y) <=> 0; order != 0) return order;
  }
  return std::weak_ordering::equivalent;
}

struct Version {
  std::string_view epoch;
  std::string_view upstream;
  std::string_view revision;
};

Version split(std::string_view text) {
  Version version;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    version.epoch = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const std::size_t hyphen = text.rfind('-');
  version.upstream = text.substr(0, hyphen);
  if (hyphen != std::string_view::npos) version.revision = text.substr(hyphen + 1);
  return version;
}

}  // namespace

std::weak_ordering compare_debian_versions(std::string_view a, std::string_view b) {
  const Version x = split(a);
  const Version y = split(b);
  if (const auto order = compare_part(x.epoch, y.epoch); order != 0) return order;
  if (const auto order = compare_part(x.upstream, y.upstream); order != 0) return order;
  return compare_part(x.revision, y.revision);
}

}  // namespace hedgerow
