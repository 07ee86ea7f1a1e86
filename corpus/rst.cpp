#include "corpus/rst.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace hedgerow {

namespace {

// Directives of which nothing is shown, of which only the body is, and whose body is code.
constexpr std::array<std::string_view, 12> hidden{"toctree", "index",     "contents", "image",
                                                  "raw",     "include",   "meta",     "literalinclude",
                                                  "only",    "highlight", "role",     "default-role"};
constexpr std::array<std::string_view, 7> body_only{"figure",     "code-block",    "code",  "sourcecode",
                                                    "list-table", "currentmodule", "module"};
constexpr std::array<std::string_view, 6> code_body{"code-block", "code",    "sourcecode",
                                                    "math",       "doctest", "parsed-literal"};

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || static_cast<unsigned char>(c) >= 0x80;
}

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// ":ref:`text <target>`" and "`text <address>`_" without the backticks.
std::string_view shown_part(std::string_view inside) {
  if (inside.ends_with('>')) {
    const std::size_t target = inside.rfind('<');
    if (target != std::string_view::npos && target > 0) return trimmed(inside.substr(0, target));
  }
  if (inside.starts_with('~') || inside.starts_with('!')) inside.remove_prefix(1);
  return inside;
}

// One paragraph's marks; linear, since a search that finds nothing is not repeated.
std::string reduce_inline(std::string_view text) {
  std::string out;
  bool no_literal = false;
  bool no_backtick = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const char before = at > 0 ? text[at - 1] : ' ';
    if (c == '\\') {
      if (at + 1 < text.size() && text[at + 1] != ' ') out += text[at + 1];
      at += 2;
    } else if (text.substr(at).starts_with("``")) {
      const std::size_t end = no_literal ? std::string_view::npos : text.find("``", at + 2);
      no_literal = end == std::string_view::npos;
      out += no_literal ? "``" : text.substr(at + 2, end - at - 2);
      at = no_literal ? at + 2 : end + 2;
    } else if (c == '`' && !no_backtick) {
      const std::size_t end = text.find('`', at + 1);
      no_backtick = end == std::string_view::npos;
      if (no_backtick) continue;
      // The role stands before: ":ref:".
      if (out.ends_with(':')) {
        const std::size_t role = out.size() < 2 ? std::string::npos : out.find_last_of(": \n", out.size() - 2);
        if (role != std::string::npos && out[role] == ':') {
          out.resize(role);
          while (!out.empty() && out.back() == ':') out.pop_back();
        }
      }
      out += shown_part(text.substr(at + 1, end - at - 1));
      at = end + 1;
      while (at < text.size() && text[at] == '_') ++at;
    } else if (c == '*') {
      const std::size_t end = std::min(text.find_first_not_of('*', at), text.size());
      const char after = end < text.size() ? text[end] : ' ';
      const bool opens = !is_word(before) && after != ' ';
      const bool closes = before != ' ' && !is_word(after);
      if (!opens && !closes) out.append(end - at, '*');
      at = end;
    } else if (c == '_') {
      const std::size_t end = std::min(text.find_first_not_of('_', at), text.size());
      const char after = end < text.size() ? text[end] : ' ';
      const bool reference = (is_word(before) || before == ']') && !is_word(after) && end - at <= 2;
      if (!reference) out.append(end - at, '_');
      at = end;
    } else {
      const std::size_t end = std::min(text.find_first_of("\\`*_", at + 1), text.size());
      out += text.substr(at, end - at);
      at = end;
    }
  }
  return out;
}

// "+---+---+" and "=====  ====", the lines of tables.
bool is_table_rule(std::string_view line) {
  if (line.starts_with('+') && line.size() > 2) return line.find_first_not_of("+-=") == std::string_view::npos;
  return line.starts_with("==") && line.find(' ') != std::string_view::npos &&
         line.find_first_not_of("= ") == std::string_view::npos;
}

// The line without the mark of a list item; as it was where it is none.
std::string_view without_bullet(std::string_view line) {
  std::size_t mark = 0;
  if (line.starts_with('-') || line.starts_with('*') || line.starts_with('+')) {
    mark = 1;
  } else if (line.starts_with("#.")) {
    mark = 2;
  } else {
    const std::size_t first = line.starts_with('(') ? 1 : 0;
    mark = first;
    while (mark < first + 9 && mark < line.size() && is_digit(line[mark])) ++mark;
    if (mark == first || mark >= line.size() || (line[mark] != '.' && line[mark] != ')')) return line;
    ++mark;
  }
  if (mark >= line.size() || line[mark] != ' ') return line;
  return trimmed(line.substr(mark));
}

class RstReducer {
 public:
  PlainText reduce(std::string_view rest) {
    while (!rest.empty()) {
      const std::string_view raw = take_line(rest);
      const std::string_view line = trimmed(raw);
      const std::size_t indent = indentation(raw);
      if (line.empty()) {
        flush();
        builder_.gap();
        in_options_ = false;
        in_doctest_ = false;
        continue;
      }
      // A body ends at the first line that is indented no more than its directive.
      if (hidden_deeper_than_ >= 0 && static_cast<int>(indent) > hidden_deeper_than_) continue;
      hidden_deeper_than_ = -1;
      if (in_options_ && line.starts_with(':') && static_cast<int>(indent) > directive_indent_) continue;
      in_options_ = false;
      if (code_deeper_than_ >= 0 && static_cast<int>(indent) > code_deeper_than_) {
        builder_.line(raw);
        continue;
      }
      code_deeper_than_ = -1;
      if (in_doctest_ || line.starts_with(">>> ")) {
        flush();
        in_doctest_ = true;
        builder_.line(raw);
        continue;
      }
      if (line.starts_with("..") && (line.size() == 2 || line[2] == ' ')) {
        flush();
        explicit_markup(trimmed(line.substr(2)), static_cast<int>(indent));
        continue;
      }
      if (paragraph_.empty() && indent == 0 && section_title(raw, rest)) continue;
      if (is_rule(line) || is_table_rule(line)) {
        if (line == "::") code_deeper_than_ = static_cast<int>(indent);
        flush();
        continue;
      }
      text_line(line, static_cast<int>(indent));
    }
    flush();
    return {std::move(title_), builder_.take()};
  }

 private:
  // A title is underlined, or stands between two lines of marks.
  bool section_title(std::string_view line, std::string_view& rest) {
    std::string_view following = rest;
    std::string_view title = trimmed(line);
    std::string_view under = trimmed(take_line(following));
    if (is_rule(title)) {
      const std::string_view over = title;
      title = under;
      under = trimmed(take_line(following));
      if (title.empty() || under != over) return false;
    }
    if (!is_rule(under) || is_rule(title) || is_table_rule(title) || under == "::" || under == "...") return false;
    if (under.size() < std::min<std::size_t>(characters(title), 4)) return false;
    const std::string text = reduce_inline(title);
    if (title_.empty()) title_ = text;
    builder_.gap();
    builder_.line(text);
    builder_.gap();
    rest = following;
    return true;
  }

  // What stands behind "..": a directive, a target, a footnote, or a comment.
  void explicit_markup(std::string_view markup, int indent) {
    if (markup.starts_with('[')) {
      const std::size_t end = markup.find(']');
      if (end != std::string_view::npos) paragraph_ = trimmed(markup.substr(end + 1));
      return;
    }
    const std::size_t colons = markup.find("::");
    const std::string_view name = markup.substr(0, colons);
    const bool is_directive = colons != std::string_view::npos && !markup.starts_with('_') &&
                              !markup.starts_with('|') && name.find(' ') == std::string_view::npos;
    if (!is_directive || is_one_of(name, hidden)) {
      hidden_deeper_than_ = indent;
      return;
    }
    in_options_ = true;
    directive_indent_ = indent;
    if (is_one_of(name, code_body)) code_deeper_than_ = indent;
    if (!is_one_of(name, body_only)) builder_.line(reduce_inline(trimmed(markup.substr(colons + 2))));
  }

  void text_line(std::string_view line, int indent) {
    const bool row = line.starts_with('|') && (line.size() == 1 || line[1] == ' ');
    if (row) {
      flush();
      std::string cells;
      for (const char c : line) cells += c == '|' ? ' ' : c;
      paragraph_ = trimmed(cells);
      return flush();
    }
    // ":Author: Name" of a field list, ":param x: what", and ":orphan:", which says nothing.
    if (line.starts_with(':')) {
      if (line.size() > 2 && line.find(':', 1) == line.size() - 1) return flush();
      const std::size_t end = line.find(": ", 1);
      if (end != std::string_view::npos && line.find('`') > end) {
        flush();
        paragraph_.append(line.substr(1));
        return;
      }
    }
    const std::string_view item = without_bullet(line);
    if (item.data() != line.data()) {
      flush();
      line = item;
    }
    if (!paragraph_.empty()) paragraph_ += ' ';
    if (line.ends_with("::")) {
      code_deeper_than_ = indent;
      line.remove_suffix(1);
      if (line == ":") line = {};
    }
    paragraph_ += line;
  }

  void flush() {
    if (paragraph_.empty()) return;
    builder_.line(trimmed(reduce_inline(paragraph_)));
    paragraph_.clear();
  }

  TextBuilder builder_;
  std::string title_;
  std::string paragraph_;        // the lines so far of the one that goes on, with spaces between them
  int hidden_deeper_than_ = -1;  // lines indented more than this are dropped; -1: none
  int code_deeper_than_ = -1;    // lines indented more than this are code; -1: none
  int directive_indent_ = 0;
  bool in_doctest_ = false;  // Python's prompt and what follows, up to an empty line
  bool in_options_ = false;  // right behind a directive, where ":name: value" belongs to it
};

}  // namespace

PlainText reduce_rst(std::string_view rst) { return RstReducer().reduce(rst); }

}  // namespace hedgerow
