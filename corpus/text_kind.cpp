#include "corpus/text_kind.hpp"

#include <algorithm>
#include <string>

namespace hedgerow {

namespace {

struct Ending {
  std::string_view ending;
  TextKind kind;
};
// Sphinx lays its sources beside its pages as "index.rst.txt".
constexpr Ending endings[] = {
    {".md", TextKind::markdown},   {".markdown", TextKind::markdown}, {".mdown", TextKind::markdown},
    {".mkd", TextKind::markdown},  {".md.txt", TextKind::markdown},   {".rst", TextKind::rst},
    {".rest", TextKind::rst},      {".rst.txt", TextKind::rst},       {".html", TextKind::html},
    {".htm", TextKind::html},      {".xhtml", TextKind::html},        {".shtml", TextKind::html},
};

constexpr std::string_view packing_suffixes[] = {".gz", ".bz2", ".xz", ".zst", ".lz4", ".lz", ".lzma", ".Z"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool is_binary(std::string_view head) {
  if (head.starts_with("%PDF-")) return true;
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return false;
  std::size_t controls = 0;
  for (const char c : head) {
    if (c == 0) return true;
    const auto byte = static_cast<unsigned char>(c);
    // Backspace and escape stand in text that was made for printers and terminals.
    if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte != 0x1b) ++controls;
  }
  return controls > head.size() / 20;
}

// Behind a byte order mark, white space, an XML declaration and comments.
bool begins_as_html(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  for (;;) {
    head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    std::string_view end;
    if (head.starts_with("<?xml")) end = "?>";
    if (head.starts_with("<!--")) end = "-->";
    if (end.empty()) break;
    const std::size_t at = head.find(end);
    if (at == std::string_view::npos) return false;
    head.remove_prefix(at + end.size());
  }
  const std::string begin = lower_case(head.substr(0, 14));
  return begin.starts_with("<!doctype html") || begin.starts_with("<html>") || begin.starts_with("<html ");
}

}  // namespace

std::string_view to_string(TextKind kind) {
  switch (kind) {
    case TextKind::text: return "text";
    case TextKind::markdown: return "markdown";
    case TextKind::rst: return "rst";
    case TextKind::html: return "html";
    case TextKind::binary: return "binary";
  }
  return "text";
}

TextKind kind_of(std::string_view path, std::string_view head) {
  if (is_binary(head.substr(0, telling_bytes))) return TextKind::binary;
  const std::string name = lower_case(path);
  for (const Ending& known : endings) {
    if (name.ends_with(known.ending)) return known.kind;
  }
  return begins_as_html(head) ? TextKind::html : TextKind::text;
}

bool is_packed(std::string_view head) {
  using namespace std::string_view_literals;
  for (const std::string_view mark : {"\x1f\x8b\x08"sv, "BZh"sv, "\xfd"
                                                                 "7zXZ\0"sv,
                                      "\x28\xb5\x2f\xfd"sv, "\x04\x22\x4d\x18"sv, "LZIP\x01"sv, "\x1f\x9d"sv}) {
    if (!head.starts_with(mark)) continue;
    // Text may begin with these letters; a bzip2 file goes on with a digit and the digits of pi.
    return mark != "BZh" || (head.size() >= 10 && (head.substr(4).starts_with("1AY&SY") || head[4] == '\x17'));
  }
  return false;
}

std::string_view without_packing_suffix(std::string_view path) {
  for (const std::string_view suffix : packing_suffixes) {
    if (path.ends_with(suffix) && path.size() > suffix.size()) return path.substr(0, path.size() - suffix.size());
  }
  return path;
}

}  // namespace hedgerow
