#include "corpus/markdown.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "corpus/entities.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t deepest_brackets = 32;
constexpr std::size_t longest_tag_bytes = 1000;
constexpr std::size_t longest_code_mark = 16;
constexpr int most_front_matter_lines = 200;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_punctuation(char c) { return c > ' ' && c < 0x7f && !is_word(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// One paragraph's marks. Every search that finds nothing is remembered, so that the whole is linear.
class InlineReducer {
 public:
  explicit InlineReducer(std::string_view text) : text_(text) {}

  std::string reduce() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\' && at_ + 1 < text_.size() && is_punctuation(text_[at_ + 1])) {
        out_ += text_[at_ + 1];
        at_ += 2;
      } else if (c == '`') {
        code();
      } else if (c == '[' || (c == '!' && next_is('['))) {
        at_ += c == '!' ? 2 : 1;
        if (open_.size() < deepest_brackets) open_.push_back(out_.size());
        out_ += '[';
      } else if (c == ']') {
        close_bracket();
      } else if (c == '*' || c == '_' || c == '~') {
        emphasis(c);
      } else if (c == '<') {
        tag();
      } else {
        const std::size_t end = text_.find_first_of("\\`[]!*_~<", at_ + 1);
        append_resolved(text_.substr(at_, end - at_), out_);
        at_ = end == std::string_view::npos ? text_.size() : end;
      }
    }
    return std::move(out_);
  }

 private:
  bool next_is(char c) const { return at_ + 1 < text_.size() && text_[at_ + 1] == c; }

  std::size_t run_length(std::size_t at) const {
    const std::size_t end = text_.find_first_not_of(text_[at], at);
    return (end == std::string_view::npos ? text_.size() : end) - at;
  }

  void code() {
    const std::size_t length = run_length(at_);
    at_ += length;
    if (length <= longest_code_mark && !no_closing_[length]) {
      for (std::size_t end = text_.find('`', at_); end != std::string_view::npos;) {
        const std::size_t closing = run_length(end);
        if (closing == length) {
          out_ += trimmed(text_.substr(at_, end - at_));
          at_ = end + closing;
          return;
        }
        end = text_.find('`', end + closing);
      }
      no_closing_[length] = true;
    }
    out_.append(length, '`');
  }

  void close_bracket() {
    ++at_;
    if (open_.empty()) {
      out_ += ']';
      return;
    }
    const std::size_t begin = open_.back();
    open_.pop_back();
    const char following = at_ < text_.size() ? text_[at_] : ' ';
    const char closing = following == '(' ? ')' : following == '[' ? ']' : 0;
    bool& none = following == '(' ? no_parenthesis_ : no_bracket_;
    if (closing != 0 && !none) {
      const std::size_t end = text_.find(closing, at_ + 1);
      if (end != std::string_view::npos) {
        at_ = end + 1;
        out_.erase(begin, 1);
        return;
      }
      none = true;
    }
    if (out_.compare(begin, 2, "[^") == 0) {
      out_.resize(begin);  // the mark of a footnote
    } else {
      out_ += ']';
    }
  }

  void emphasis(char mark) {
    const std::size_t length = run_length(at_);
    const char before = at_ > 0 ? text_[at_ - 1] : ' ';
    const char after = at_ + length < text_.size() ? text_[at_ + length] : ' ';
    const bool between_blanks = before == ' ' && after == ' ';
    const bool inside_word = mark == '_' && is_word(before) && is_word(after);
    if (between_blanks || inside_word || (mark == '~' && length < 2)) out_.append(length, mark);
    at_ += length;
  }

  void tag() {
    const std::string_view rest = text_.substr(at_, longest_tag_bytes);
    const std::size_t end = rest.find('>');
    const char first = rest.size() > 1 ? rest[1] : ' ';
    if (end == std::string_view::npos || !(is_word(first) || first == '/' || first == '!')) {
      out_ += '<';
      ++at_;
      return;
    }
    const std::string_view inside = rest.substr(1, end - 1);
    const bool address = inside.find_first_of(" \n\"") == std::string_view::npos &&
                         (inside.find("://") != std::string_view::npos || inside.find('@') != std::string_view::npos);
    if (address) out_ += inside;
    if (inside.starts_with("br")) out_ += ' ';
    at_ += end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<std::size_t> open_;  // where in out_ the brackets stand
  std::array<bool, longest_code_mark + 1> no_closing_{};
  bool no_parenthesis_ = false;
  bool no_bracket_ = false;
};

// The line without the mark of a list item; as it was where it is none.
std::string_view without_bullet(std::string_view line) {
  std::size_t mark = 0;
  if (line.starts_with('-') || line.starts_with('*') || line.starts_with('+')) {
    mark = 1;
  } else {
    while (mark < 9 && mark < line.size() && is_digit(line[mark])) ++mark;
    if (mark == 0 || mark >= line.size() || (line[mark] != '.' && line[mark] != ')')) return line;
    ++mark;
  }
  if (mark < line.size() && line[mark] != ' ' && line[mark] != '\t') return line;
  line = trimmed(line.substr(mark));
  for (const std::string_view box : {"[ ] ", "[x] ", "[X] "}) {
    if (line.starts_with(box)) return trimmed(line.substr(box.size()));
  }
  return line;
}

// "[name]: address", which links refer to.
bool is_link_definition(std::string_view line) {
  if (!line.starts_with('[') || line.starts_with("[^")) return false;
  const std::size_t end = line.find("]:");
  return end != std::string_view::npos && line.find(']') == end;
}

bool is_table_rule(std::string_view line) {
  return line.find('|') != std::string_view::npos && line.find('-') != std::string_view::npos &&
         line.find_first_not_of("|-: \t") == std::string_view::npos;
}

bool is_thematic_break(std::string_view line) {
  if (line.empty() || std::string_view("-*_").find(line.front()) == std::string_view::npos) return false;
  std::size_t marks = 0;
  for (const char c : line) {
    if (c == line.front()) {
      ++marks;
    } else if (c != ' ' && c != '\t') {
      return false;
    }
  }
  return marks >= 3;
}

class MarkdownReducer {
 public:
  PlainText reduce(std::string_view rest) {
    front_matter(rest);
    while (!rest.empty()) {
      std::string_view raw = take_line(rest);
      if (fence_ > 0) {
        code_line(raw);
        continue;
      }
      std::string without_comment;
      if (in_comment_ || raw.find("<!--") != std::string_view::npos) {
        without_comment = outside_comments(raw);
        raw = without_comment;
        if (trimmed(raw).empty()) continue;
      }
      line(raw);
    }
    flush();
    return {std::move(title_), builder_.take()};
  }

 private:
  // "---", settings, "---" at the very beginning.
  void front_matter(std::string_view& text) {
    std::string_view rest = text;
    if (trimmed(take_line(rest)) != "---") return;
    std::string_view title;
    for (int lines = 0; !rest.empty() && lines < most_front_matter_lines; ++lines) {
      const std::string_view line = trimmed(take_line(rest));
      if (line.starts_with("title:")) title = trimmed(line.substr(6));
      if (line != "---" && line != "...") continue;
      if (title.size() >= 2 && (title.front() == '"' || title.front() == '\'') && title.back() == title.front()) {
        title = title.substr(1, title.size() - 2);
      }
      title_ = title;
      text = rest;
      return;
    }
  }

  void code_line(std::string_view raw) {
    const std::string_view line = trimmed(raw);
    const std::size_t marks = line.empty() ? 0 : std::min(line.find_first_not_of(fence_mark_), line.size());
    if (marks >= fence_ && marks == line.size()) {
      fence_ = 0;
      builder_.gap();
      return;
    }
    builder_.line(raw);
  }

  std::string outside_comments(std::string_view line) {
    std::string outside;
    while (!line.empty()) {
      if (in_comment_) {
        const std::size_t end = line.find("-->");
        if (end == std::string_view::npos) break;
        in_comment_ = false;
        line.remove_prefix(end + 3);
      } else {
        const std::size_t begin = line.find("<!--");
        outside += line.substr(0, begin);
        if (begin == std::string_view::npos) break;
        in_comment_ = true;
        line.remove_prefix(begin + 4);
      }
    }
    return outside;
  }

  void line(std::string_view raw) {
    std::string_view line = trimmed(raw);
    while (line.starts_with('>')) raw = line = trimmed(line.substr(1));
    if (line.empty()) {
      flush();
      builder_.gap();
      return;
    }
    if (line.starts_with("```") || line.starts_with("~~~")) {
      flush();
      fence_mark_ = line.front();
      fence_ = std::min(line.find_first_not_of(fence_mark_), line.size());
      builder_.new_line();
      return;
    }
    const bool underline = line.find_first_not_of('=') == std::string_view::npos ||
                           (line.size() >= 2 && line.find_first_not_of('-') == std::string_view::npos);
    if (underline && !paragraph_.empty() && !in_list_) return heading(std::exchange(paragraph_, {}));
    if (is_thematic_break(line) || is_table_rule(line) || is_link_definition(line)) return flush();
    if (line.starts_with('#')) {
      const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
      if (level <= 6 && (level == line.size() || line[level] == ' ' || line[level] == '\t')) {
        flush();
        std::string_view text = trimmed(line.substr(level));
        const std::size_t end = text.find_last_not_of('#');
        if (end == std::string_view::npos || text[end] == ' ') text = trimmed(text.substr(0, end + 1));
        return heading(text);
      }
    }
    if (indentation(raw) >= 4 && paragraph_.empty() && !in_list_) return builder_.line(raw);
    if (line.starts_with('|')) {
      flush();
      std::string cells;
      for (const char c : line) cells += c == '|' ? ' ' : c;
      paragraph_ = trimmed(cells);
      return flush();
    }
    if (const std::string_view item = without_bullet(line); item.data() != line.data() || item.empty()) {
      flush();
      in_list_ = true;
      paragraph_ = item;
      return;
    }
    if (paragraph_.empty() && indentation(raw) == 0) in_list_ = false;
    if (!paragraph_.empty()) paragraph_ += ' ';
    paragraph_ += line;
  }

  void heading(std::string_view marked) {
    const std::string text = InlineReducer(marked).reduce();
    if (title_.empty()) title_ = trimmed(text);
    in_list_ = false;
    builder_.gap();
    builder_.line(text);
    builder_.gap();
  }

  void flush() {
    if (paragraph_.empty()) return;
    builder_.line(trimmed(InlineReducer(paragraph_).reduce()));
    paragraph_.clear();
  }

  TextBuilder builder_;
  std::string title_;
  std::string paragraph_;  // the lines so far of the one that goes on, with spaces between them
  std::size_t fence_ = 0;  // the length of the mark that code will end with; 0 outside of code
  char fence_mark_ = '`';
  bool in_comment_ = false;
  bool in_list_ = false;
};

}  // namespace

PlainText reduce_markdown(std::string_view markdown) { return MarkdownReducer().reduce(markdown); }

}  // namespace hedgerow
