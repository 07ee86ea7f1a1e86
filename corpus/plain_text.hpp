// What the mark-up of a file comes down to: a title and text that can be searched and shown. And plain text files,
// which have no mark-up. Pure.
#pragma once

#include <string>
#include <string_view>

namespace hedgerow {

struct PlainText {
  std::string title;  // one line; empty where the content names none
  std::string text;   // paragraphs parted by empty lines, list items and rows of tables on lines of their own
};

// Puts lines and gaps together, so that there is never more than one empty line, and none at either end.
class TextBuilder {
 public:
  // Begins a new line, unless there is one.
  void new_line();
  // An empty line before what comes next, unless nothing came yet.
  void gap() { wants_gap_ = true; }
  // At the end of the line that there is.
  void append(std::string_view text);
  // A line of its own; a blank one is a gap.
  void line(std::string_view text);
  bool at_line_start() const { return text_.empty() || text_.back() == '\n' || wants_gap_; }
  std::string take();

 private:
  std::string text_;
  bool wants_gap_ = false;
};

// Takes the first line from the rest, without its end (LF or CR LF).
std::string_view take_line(std::string_view& rest);

// Without blanks (space, tab, CR) at both ends.
std::string_view trimmed(std::string_view text);

// How many blanks a line begins with, a tab as far as the next multiple of 8.
std::size_t indentation(std::string_view line);

// The line is one character of punctuation, over and over, at least three times.
bool is_rule(std::string_view line);

// The text of a file without mark-up as it is. Its title is its first line that says anything, if that looks like one:
// short, of words, and alone in its paragraph or underlined.
PlainText reduce_text(std::string_view text);

}  // namespace hedgerow
