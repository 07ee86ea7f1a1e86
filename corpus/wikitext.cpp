#include "corpus/wikitext.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "corpus/entities.hpp"
#include "corpus/plain_text.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t deepest_templates = 1000;
constexpr std::size_t deepest_links = 20;
constexpr std::size_t longest_tag_bytes = 1000;
constexpr std::size_t most_categories = 1000;

constexpr std::array<std::string_view, 16> dropped_elements{
    "ref",   "math", "gallery",  "timeline", "score", "templatedata", "graph",     "mapframe",
    "style", "chem", "imagemap", "hiero",    "ce",    "references",   "indicator", "maplink"};
constexpr std::array<std::string_view, 4> verbatim_elements{"nowiki", "pre", "source", "syntaxhighlight"};
constexpr std::array<std::string_view, 10> line_elements{"br", "p",  "div", "li",     "tr",
                                                         "ul", "ol", "hr",  "center", "blockquote"};
constexpr std::array<std::string_view, 5> schemes{"http://", "https://", "//", "ftp://", "mailto:"};

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// "de", "zh-min-nan": prefixes of links to the same page in another language.
bool is_language(std::string_view prefix) {
  if (prefix.size() < 2 || prefix.size() > 12 || (prefix.size() > 3 && prefix.find('-') == std::string_view::npos)) {
    return false;
  }
  return std::all_of(prefix.begin(), prefix.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
}

// "physics_of_metals" is the category "Physics of metals".
std::string category_name(std::string_view target) {
  std::string name(trimmed(target));
  std::replace(name.begin(), name.end(), '_', ' ');
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 'a' + 'A');
  return name;
}

// First step: everything that stands inside of lines or spans them. Closing a mark cuts or shortens what was written
// since it was opened, so that the text is gone through once.
class InlineReducer {
 public:
  InlineReducer(std::string_view text, const WikiNames& names)
      : text_(text), lower_(lower_case(text)), names_(names) {}

  std::string reduce() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }
  std::vector<std::string> take_categories() { return std::move(categories_); }

 private:
  struct Open {
    bool is_link;
    std::size_t begin;                      // in out_, behind the mark
    std::size_t pipe = std::string::npos;   // in out_, of a link's first
  };

  std::size_t run_length() const {
    const std::size_t end = text_.find_first_not_of(text_[at_], at_);
    return (end == std::string_view::npos ? text_.size() : end) - at_;
  }

  void step() {
    const char c = text_[at_];
    switch (c) {
      case '{': return open_templates(run_length());
      case '}': return close_templates(run_length());
      case '[': return open_link();
      case ']': return close_link();
      case '|':
        if (!open_.empty() && open_.back().is_link && open_.back().pipe == std::string::npos) {
          open_.back().pipe = out_.size();
        }
        out_ += c;
        ++at_;
        return;
      case '<': return tag();
      case '\'': {
        // Two are italic, three bold, five both; what is over are apostrophes.
        const std::size_t length = run_length();
        const std::size_t kept = length == 1 || length == 4 ? 1 : length > 5 ? length - 5 : 0;
        out_.append(kept, c);
        at_ += length;
        return;
      }
      case '_': return magic_word();
      default: {
        const std::size_t end = std::min(text_.find_first_of("{}[]|<'_", at_ + 1), text_.size());
        append_resolved(text_.substr(at_, end - at_), out_);
        at_ = end;
      }
    }
  }

  void open_templates(std::size_t braces) {
    at_ += braces;
    if (braces == 1) {
      out_ += '{';
      return;
    }
    for (std::size_t i = 0; i < braces / 2; ++i) {
      if (templates_ == deepest_templates) {
        ++templates_beyond_;
      } else {
        open_.push_back({false, out_.size()});
        ++templates_;
      }
    }
  }

  void close_templates(std::size_t braces) {
    at_ += braces;
    if (braces == 1) {
      out_ += '}';
      return;
    }
    for (std::size_t i = 0; i < braces / 2; ++i) {
      if (templates_beyond_ > 0) {
        --templates_beyond_;
        continue;
      }
      if (templates_ == 0) return;
      while (open_.back().is_link) pop_link();
      out_.resize(open_.back().begin);
      open_.pop_back();
      --templates_;
    }
  }

  void open_link() {
    if (text_.substr(at_).starts_with("[[")) {
      at_ += 2;
      if (links_ == deepest_links) return;
      open_.push_back({true, out_.size()});
      ++links_;
      return;
    }
    const std::string_view behind = std::string_view(lower_).substr(at_ + 1);
    const bool outward = std::any_of(schemes.begin(), schemes.end(),
                                     [&](std::string_view scheme) { return behind.starts_with(scheme); });
    if (!outward) {
      out_ += '[';
      ++at_;
      return;
    }
    at_ = std::min(text_.find_first_of(" \t\n]", at_), text_.size());
    if (at_ < text_.size() && text_[at_] == ' ') ++at_;
    in_outward_link_ = at_ < text_.size() && text_[at_] != '\n';
  }

  void close_link() {
    if (in_outward_link_) {
      in_outward_link_ = false;
      ++at_;
      return;
    }
    if (!text_.substr(at_).starts_with("]]")) {
      out_ += ']';
      ++at_;
      return;
    }
    at_ += 2;
    if (open_.empty() || !open_.back().is_link) return;
    const Open link = open_.back();
    pop_link();
    const bool has_pipe = link.pipe != std::string::npos;
    const std::size_t target_end = has_pipe ? link.pipe : out_.size();
    const std::string_view target = std::string_view(out_).substr(link.begin, target_end - link.begin);
    const std::size_t colon = target.find(':');
    if (colon != std::string_view::npos && colon > 0) {
      const std::string prefix = lower_case(trimmed(target.substr(0, colon)));
      if (prefix == "category" || is_named(prefix, names_.category)) {
        add_category(category_name(target.substr(colon + 1)));
        return out_.resize(link.begin);
      }
      if (prefix == "file" || prefix == "image" || is_named(prefix, names_.file)) return out_.resize(link.begin);
      if (!has_pipe && is_language(trimmed(target.substr(0, colon)))) return out_.resize(link.begin);
    }
    if (has_pipe && out_.find_first_not_of(' ', link.pipe + 1) != std::string::npos) {
      out_.erase(link.begin, link.pipe + 1 - link.begin);
    } else {
      if (has_pipe) out_.resize(link.pipe);  // "[[Mercury (planet)|]]"
      if (colon == 0) out_.erase(link.begin, 1);
    }
  }

  void pop_link() {
    open_.pop_back();
    --links_;
  }

  static bool is_named(const std::string& prefix, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), prefix) != names.end();
  }

  void add_category(std::string name) {
    if (name.empty() || categories_.size() == most_categories || !known_categories_.insert(name).second) return;
    categories_.push_back(std::move(name));
  }

  // "__TOC__" is no text.
  void magic_word() {
    if (text_.substr(at_).starts_with("__")) {
      std::size_t end = at_ + 2;
      while (end < text_.size() && end < at_ + 40 && text_[end] >= 'A' && text_[end] <= 'Z') ++end;
      if (end > at_ + 2 && text_.substr(end).starts_with("__")) {
        at_ = end + 2;
        return;
      }
    }
    out_ += '_';
    ++at_;
  }

  // Where the element of that name ends, from at_ on: the positions of its end tag and behind it.
  std::pair<std::size_t, std::size_t> end_of(const std::string& name) {
    constexpr auto none = std::string::npos;
    if (unclosed_.contains(name)) return {none, none};
    const std::size_t begin = lower_.find("</" + name, at_);
    const std::size_t end = begin == none ? none : lower_.find('>', begin);
    if (end != none) return {begin, end + 1};
    unclosed_.insert(name);  // none further on either
    return {none, none};
  }

  void tag() {
    if (text_.substr(at_).starts_with("<!--")) {
      const std::size_t end = text_.find("-->", at_ + 4);
      at_ = end == std::string_view::npos ? text_.size() : end + 3;
      return;
    }
    const bool closing = at_ + 1 < text_.size() && text_[at_ + 1] == '/';
    const std::size_t name_begin = at_ + (closing ? 2 : 1);
    std::size_t name_end = name_begin;
    while (name_end < lower_.size() && name_end < name_begin + 20 && is_letter(lower_[name_end])) ++name_end;
    const std::size_t bracket = text_.substr(at_, longest_tag_bytes).find('>');
    if (name_end == name_begin || bracket == std::string_view::npos) {
      out_ += '<';
      ++at_;
      return;
    }
    const std::string name = lower_.substr(name_begin, name_end - name_begin);
    const bool empty = text_[at_ + bracket - 1] == '/';
    at_ += bracket + 1;
    const bool verbatim = is_one_of(name, verbatim_elements);
    if (!closing && !empty && (verbatim || is_one_of(name, dropped_elements))) {
      const auto [end, behind] = end_of(name);
      if (end == std::string::npos) return;
      if (verbatim) append_resolved(text_.substr(at_, end - at_), out_);
      at_ = behind;
      return;
    }
    if (is_one_of(name, line_elements)) out_ += '\n';
  }

  std::string_view text_;
  std::string lower_;
  const WikiNames& names_;
  std::size_t at_ = 0;
  std::string out_;
  std::vector<Open> open_;
  std::size_t templates_ = 0;         // in open_
  std::size_t templates_beyond_ = 0;  // too deep to be there
  std::size_t links_ = 0;             // in open_
  bool in_outward_link_ = false;
  std::unordered_set<std::string> unclosed_;
  std::vector<std::string> categories_;
  std::unordered_set<std::string> known_categories_;
};

// Second step: what stands at the beginning of lines.
class LineReducer {
 public:
  std::string reduce(std::string_view rest) {
    while (!rest.empty()) line(trimmed(take_line(rest)));
    return builder_.take();
  }

 private:
  void line(std::string_view line) {
    const std::size_t behind_lists = line.find_first_not_of("*#:; ");
    if (behind_lists != std::string_view::npos && line.substr(behind_lists).starts_with("{|")) {
      ++tables_;
      return builder_.gap();
    }
    if (tables_ > 0 && (line.starts_with('|') || line.starts_with('!'))) return table_line(line);
    if (line.starts_with("----")) line = line.substr(std::min(line.find_first_not_of('-'), line.size()));
    if (line.size() > 2 && line.starts_with('=') && line.ends_with('=')) {
      std::string_view heading = line;
      while (heading.size() > 2 && heading.starts_with('=') && heading.ends_with('=')) {
        heading = heading.substr(1, heading.size() - 2);
      }
      builder_.gap();
      put(heading);
      return builder_.gap();
    }
    put(line.substr(std::min(line.find_first_not_of("*#:;"), line.size())));
  }

  void table_line(std::string_view line) {
    if (line.starts_with("|}")) {
      --tables_;
      builder_.gap();
      return put(line.substr(2));
    }
    if (line.starts_with("|-")) return;
    const bool heading = line.starts_with('!');
    line.remove_prefix(line.starts_with("|+") ? 2 : 1);
    std::string cells;
    while (!line.empty()) {
      std::size_t end = line.find("||");
      if (heading) end = std::min(end, line.find("!!"));
      std::string_view cell = line.substr(0, end);
      line.remove_prefix(end == std::string_view::npos ? line.size() : end + 2);
      // style="…" | text
      const std::size_t pipe = cell.find('|');
      if (pipe != std::string_view::npos && cell.find('=') < pipe) cell.remove_prefix(pipe + 1);
      cells.append(cells.empty() ? "" : " ").append(trimmed(cell));
    }
    put(cells);
  }

  // A line with its runs of blanks as one space, and without the brackets that dropped templates leave empty.
  void put(std::string_view line) {
    std::string text;
    for (std::size_t at = 0; at < line.size();) {
      const bool no_break = line.substr(at).starts_with("\xc2\xa0");
      if (no_break || line[at] == ' ' || line[at] == '\t') {
        if (!text.empty() && text.back() != ' ') text += ' ';
        at += no_break ? 2 : 1;
        continue;
      }
      text += line[at++];
      if (text.back() == ')' && (text.ends_with("()") || text.ends_with("( )"))) {
        text.resize(text.rfind('('));
        if (text.ends_with(' ')) text.pop_back();
      }
    }
    if (text.find_first_not_of("|{}[] ") == std::string::npos) return builder_.gap();
    builder_.line(trimmed(text));
  }

  TextBuilder builder_;
  std::size_t tables_ = 0;
};

}  // namespace

ReducedWikitext reduce_wikitext(std::string_view wikitext, const WikiNames& names) {
  InlineReducer reducer(wikitext, names);
  const std::string lines = reducer.reduce();
  return {LineReducer().reduce(lines), reducer.take_categories()};
}

}  // namespace hedgerow
