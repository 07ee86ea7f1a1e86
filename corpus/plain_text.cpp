#include "corpus/plain_text.hpp"

#include <algorithm>
#include <utility>

namespace hedgerow {

namespace {

constexpr std::size_t longest_title_bytes = 120;
// What stands around a title for looks: "*** News ***", "# Notes", "/* Hints */".
constexpr std::string_view decoration = " \t\r*#=-_/%!<>|~+\"'";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

bool looks_like_title(std::string_view title) {
  if (title.size() > longest_title_bytes || title.find("://") != std::string_view::npos) return false;
  // Prose that goes on, code, and settings.
  if (title.starts_with('.') || title.find_first_of("{};=\\") != std::string_view::npos || title.ends_with(','))
    return false;
  return std::count_if(title.begin(), title.end(), is_letter) >= 3;
}

}  // namespace

void TextBuilder::new_line() {
  if (!text_.empty() && text_.back() != '\n') text_ += '\n';
}

void TextBuilder::append(std::string_view text) {
  if (text.empty()) return;
  if (wants_gap_) {
    new_line();
    if (!text_.empty()) text_ += '\n';
    wants_gap_ = false;
  }
  text_ += text;
}

void TextBuilder::line(std::string_view text) {
  if (trimmed(text).empty()) return gap();
  new_line();
  append(text);
  new_line();
}

std::string TextBuilder::take() {
  while (!text_.empty() && (text_.back() == '\n' || text_.back() == ' ')) text_.pop_back();
  wants_gap_ = false;
  return std::exchange(text_, {});
}

std::string_view take_line(std::string_view& rest) {
  const std::size_t newline = rest.find('\n');
  std::string_view line = rest.substr(0, newline);
  rest.remove_prefix(newline == std::string_view::npos ? rest.size() : newline + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::size_t indentation(std::string_view line) {
  std::size_t columns = 0;
  for (const char c : line) {
    if (c == '\t') {
      columns = (columns / 8 + 1) * 8;
    } else if (c == ' ') {
      ++columns;
    } else {
      break;
    }
  }
  return columns;
}

bool is_rule(std::string_view line) {
  line = trimmed(line);
  if (line.size() < 3 || line.find_first_not_of(line.front()) != std::string_view::npos) return false;
  return std::string_view("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(line.front()) != std::string_view::npos;
}

PlainText reduce_text(std::string_view text) {
  PlainText plain{{}, std::string(text)};
  if (text.starts_with("#!")) return plain;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    const std::size_t first = line.find_first_not_of(decoration);
    if (first == std::string_view::npos) continue;
    const std::string_view title = line.substr(first, line.find_last_not_of(decoration) + 1 - first);
    const std::string_view following = trimmed(take_line(rest));
    if (looks_like_title(title) && (following.empty() || is_rule(following))) plain.title = title;
    break;
  }
  return plain;
}

}  // namespace hedgerow
