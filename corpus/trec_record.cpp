#include "corpus/trec_record.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "corpus/entities.hpp"

namespace hedgerow {

namespace {

constexpr auto npos = std::string_view::npos;

// In the order in which they are preferred.
constexpr std::array<std::string_view, 6> title_elements{"TITLE", "DOCTITLE", "HEADLINE", "HL", "TI", "HEAD"};
constexpr std::string_view left_out[] = {"DOCID", "DOCOLDNO", "FILEID"};
constexpr std::string_view raw_elements[] = {"SCRIPT", "STYLE"};
constexpr std::string_view sections[] = {"TEXT", "BODY", "HTML"};
// A word goes on across these.
constexpr std::string_view inline_elements[] = {"A",     "ABBR", "B",    "BIG", "CITE", "CODE",   "EM",  "FONT", "I",
                                                "SMALL", "SPAN", "STRONG", "SUB", "SUP",  "TT",   "U"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

struct Tag {
  std::string name;  // in upper case; empty for comments, declarations and the like
  bool closing = false;
  std::size_t end = 0;  // behind its ">"
};

// The tag that begins at the "<" at `at`; nothing where that is only a character.
std::optional<Tag> tag_at(std::string_view text, std::size_t at) {
  if (text.substr(at).starts_with("<!--")) {
    const std::size_t end = text.find("-->", at + 4);
    if (end != npos) return Tag{{}, false, end + 3};
  }
  std::size_t begin = at + 1;
  Tag tag;
  if (begin < text.size() && text[begin] == '/') {
    tag.closing = true;
    ++begin;
  }
  if (begin == text.size()) return std::nullopt;
  const bool declaration = !tag.closing && (text[begin] == '!' || text[begin] == '?');
  if (!declaration && !is_letter(text[begin])) return std::nullopt;
  const std::size_t close = text.find_first_of("<>", begin);
  if (close == npos || text[close] == '<') return std::nullopt;
  tag.end = close + 1;
  if (!declaration) {
    for (std::size_t i = begin; i < close && !is_blank(text[i]) && text[i] != '/'; ++i) tag.name.push_back(upper(text[i]));
  }
  return tag;
}

std::string with_blanks_reduced(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_blank(text[i])) {
      out.push_back(text[i++]);
      continue;
    }
    bool newline = false;
    for (; i < text.size() && is_blank(text[i]); ++i) newline |= text[i] == '\n';
    if (!out.empty() && i < text.size()) out.push_back(newline ? '\n' : ' ');
  }
  return out;
}

std::string on_one_line(std::string_view text) {
  std::string out = with_blanks_reduced(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  return out;
}

bool is_blank(std::string_view text) { return std::all_of(text.begin(), text.end(), [](char c) { return is_blank(c); }); }

class Reduction {
 public:
  result<Document> run(std::string_view record) {
    std::size_t text_begins = 0;
    for (std::size_t at = record.find('<'); at != npos; at = record.find('<', at)) {
      const auto tag = tag_at(record, at);
      if (!tag) {
        ++at;
        continue;
      }
      append_resolved(record.substr(text_begins, at - text_begins), *sink());
      at = tag->end;
      if (!tag->closing && contains(raw_elements, tag->name)) {
        const std::size_t end = find_tag(record, tag->name, at);
        at = end == npos ? record.size() : end;
      }
      text_begins = at;
      meet(*tag);
    }
    append_resolved(record.substr(text_begins), *sink());
    return document();
  }

 private:
  struct Open {
    std::string name;
    std::string* sink;
  };

  std::string* sink() { return open_.empty() ? &text_ : open_.back().sink; }

  void meet(const Tag& tag) {
    if (tag.name.empty()) return;
    if (!open_.empty() && open_.back().name == "DOCNO") open_.pop_back();
    if (tag.closing) {
      const auto opened = std::find_if(open_.rbegin(), open_.rend(), [&](const Open& o) { return o.name == tag.name; });
      if (opened != open_.rend()) open_.erase(std::prev(opened.base()), open_.end());
    } else if (contains(sections, tag.name)) {
      open_.clear();
    } else if (std::string* special = special_sink(tag.name)) {
      open_.push_back({tag.name, special});
    }
    if (!contains(inline_elements, tag.name)) sink()->push_back('\n');
  }

  // Where the element's content goes; nothing where it goes on as before.
  std::string* special_sink(std::string_view name) {
    if (name == "DOCNO") {
      // The first one is the document's; another would be that of a document quoted inside.
      if (has_id_) return &dropped_;
      has_id_ = true;
      return &id_;
    }
    if (name == "DOCHDR") return &header_;
    if (name == "URL") return &url_;
    if (contains(left_out, name)) return &dropped_;
    const auto title = std::find(title_elements.begin(), title_elements.end(), name);
    if (title == title_elements.end()) return nullptr;
    std::string& words = titles_[static_cast<std::size_t>(title - title_elements.begin())];
    return is_blank(words) ? &words : nullptr;
  }

  result<Document> document() {
    if (!has_id_) return Error{Errc::input, "no <DOCNO>"};
    Document document;
    document.id = on_one_line(id_);
    std::string text;
    for (const std::string& title : titles_) {
      if (is_blank(title)) continue;
      if (document.title.empty()) {
        document.title = on_one_line(title);
      } else {
        text += title + "\n";
      }
    }
    document.text = with_blanks_reduced(text + text_);
    document.url = on_one_line(url_);
    if (document.url.empty()) {
      const std::string header = on_one_line(header_);
      const std::string first = header.substr(0, header.find(' '));
      if (first.find("://") != std::string::npos) document.url = first;
    }
    return document;
  }

  std::vector<Open> open_;
  std::string id_, url_, header_, text_, dropped_;
  std::array<std::string, title_elements.size()> titles_;
  bool has_id_ = false;
};

}  // namespace

std::size_t find_tag(std::string_view text, std::string_view name, std::size_t from) {
  for (std::size_t at = text.find('<', from); at != npos; at = text.find('<', at + 1)) {
    std::size_t i = at + 1;
    if (i < text.size() && text[i] == '/') ++i;
    const std::string_view found = text.substr(i, name.size());
    if (found.size() < name.size() ||
        !std::equal(found.begin(), found.end(), name.begin(), [](char a, char b) { return upper(a) == b; })) {
      continue;
    }
    const std::size_t behind = i + name.size();
    if (behind < text.size() && (text[behind] == '>' || is_blank(text[behind]))) return at;
  }
  return npos;
}

result<Document> parse_trec_record(std::string_view record) { return Reduction().run(record); }

}  // namespace hedgerow
