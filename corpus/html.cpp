#include "corpus/html.hpp"

#include <libxml/HTMLparser.h>

#include <algorithm>
#include <array>
#include <climits>
#include <memory>
#include <utility>

namespace hedgerow {

namespace {

// libxml2 looks through all open elements at every end tag, and through all attributes at every attribute.
constexpr int deepest = 500;
constexpr std::size_t most_attributes = 1000;

constexpr std::array<std::string_view, 7> dropped_elements{"script", "style",  "template", "noscript",
                                                           "svg",    "iframe", "object"};
constexpr std::array<std::string_view, 17> paragraph_elements{"p",  "h1", "h2",    "h3",         "h4",  "h5",
                                                              "h6", "ul", "ol",    "dl",         "pre", "table",
                                                              "hr", "blockquote", "section", "article", "form"};
constexpr std::array<std::string_view, 17> line_elements{"div",  "li",     "dt",      "dd",     "tr",    "caption",
                                                         "main", "header", "footer",  "nav",    "aside", "address",
                                                         "body", "figure", "fieldset", "option", "br"};

template <std::size_t n>
bool is_one_of(std::string_view name, const std::array<std::string_view, n>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_heading(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'; }
bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Adds text with every run of white space as one space.
void append_collapsed(std::string_view text, std::string& to, bool& wants_space) {
  for (std::size_t at = 0; at < text.size();) {
    const bool no_break = text.substr(at).starts_with("\xc2\xa0");
    if (is_blank(text[at]) || no_break) {
      wants_space = true;
      at += no_break ? 2 : 1;
      continue;
    }
    if (wants_space && !to.empty()) to += ' ';
    wants_space = false;
    const std::size_t begin = at;
    while (at < text.size() && !is_blank(text[at]) && text[at] != '\xc2') ++at;
    if (at == begin) ++at;  // a letter that begins as the no-break space does
    to.append(text, begin, at - begin);
  }
}

// Receives the parser's events.
class Reducer {
 public:
  explicit Reducer(xmlParserCtxt* parser) : parser_(parser) {}

  void start(std::string_view name) {
    if (++depth_ > deepest) {
      too_deep_ = true;
      xmlStopParser(parser_);
      return;
    }
    if (dropped_ > 0 || is_one_of(name, dropped_elements)) {
      ++dropped_;
      return;
    }
    if (name == "title") ++in_title_;
    if (is_heading(name)) in_heading_ = heading_.empty();
    if (name == "pre") ++in_pre_;
    part(name);
  }

  void end(std::string_view name) {
    if (depth_ > 0) --depth_;
    if (dropped_ > 0) {
      --dropped_;
      return;
    }
    if (name == "title" && in_title_ > 0) --in_title_;
    if (is_heading(name)) in_heading_ = false;
    if (name == "pre" && in_pre_ > 0) --in_pre_;
    if (name != "br") part(name);
  }

  void characters(std::string_view text) {
    if (dropped_ > 0) return;
    if (in_title_ > 0) return append_collapsed(text, title_, title_wants_space_);
    if (in_heading_) append_collapsed(text, heading_, heading_wants_space_);
    if (in_pre_ > 0) return verbatim(text);
    // Collapsed on its own, so that the builder sees what the line begins with.
    line_.clear();
    bool wants_space = wants_space_;
    const bool leading = wants_space || (!text.empty() && (is_blank(text[0]) || text.starts_with("\xc2\xa0")));
    append_collapsed(text, line_, wants_space);
    wants_space_ = line_.empty() ? leading || wants_space : wants_space;
    if (line_.empty()) return;
    if (leading && !builder_.at_line_start()) builder_.append(" ");
    builder_.append(line_);
  }

  result<PlainText> finish() {
    if (too_deep_) {
      return Error{Errc::input, "HTML nested deeper than " + std::to_string(deepest) + " elements"};
    }
    return PlainText{title_.empty() ? std::move(heading_) : std::move(title_), builder_.take()};
  }

 private:
  void part(std::string_view name) {
    if (name == "td" || name == "th") {
      wants_space_ = true;
    } else if (is_one_of(name, paragraph_elements)) {
      builder_.gap();
      wants_space_ = false;
    } else if (is_one_of(name, line_elements)) {
      builder_.new_line();
      wants_space_ = false;
    }
  }

  void verbatim(std::string_view text) {
    while (!text.empty()) {
      const std::size_t newline = text.find('\n');
      const std::string_view piece = text.substr(0, newline);
      builder_.append(piece.ends_with('\r') ? piece.substr(0, piece.size() - 1) : piece);
      if (newline == std::string_view::npos) break;
      if (piece.empty() && builder_.at_line_start()) {
        builder_.gap();
      } else {
        builder_.new_line();
      }
      text.remove_prefix(newline + 1);
    }
    wants_space_ = false;
  }

  xmlParserCtxt* parser_;
  TextBuilder builder_;
  std::string title_;
  std::string heading_;
  std::string line_;
  int depth_ = 0;
  int dropped_ = 0;  // elements open inside of a dropped one, and itself
  int in_title_ = 0;
  int in_pre_ = 0;
  bool in_heading_ = false;
  bool wants_space_ = false;
  bool title_wants_space_ = false;
  bool heading_wants_space_ = false;
  bool too_deep_ = false;
};

std::string_view view(const xmlChar* text) { return reinterpret_cast<const char*>(text); }

void on_start(void* self, const xmlChar* name, const xmlChar**) { static_cast<Reducer*>(self)->start(view(name)); }
void on_end(void* self, const xmlChar* name) { static_cast<Reducer*>(self)->end(view(name)); }
void on_characters(void* self, const xmlChar* text, int size) {
  static_cast<Reducer*>(self)->characters({reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
}

// Whether some tag has more attributes than are sensible, as libxml2 will take it apart.
bool has_endless_tag(std::string_view html) {
  enum class State { outside, between, name, behind_name, before_value, bare_value, quoted_value };
  State state = State::outside;
  char quote = 0;
  std::size_t attributes = 0;
  for (std::size_t at = 0; at < html.size(); ++at) {
    const char c = html[at];
    switch (state) {
      case State::outside:
        if (c == '<' && at + 1 < html.size() && is_ascii_letter(html[at + 1])) {
          state = State::bare_value;  // the element's name ends like a bare value
          attributes = 0;
        }
        break;
      case State::between:
      case State::behind_name:
        if (is_blank(c) || c == '/') break;
        if (c == '=' && state == State::behind_name) {
          state = State::before_value;
        } else if (c == '>') {
          state = State::outside;
        } else {
          if (++attributes > most_attributes) return true;
          state = State::name;
        }
        break;
      case State::name:
        if (c == '=') state = State::before_value;
        if (is_blank(c)) state = State::behind_name;
        if (c == '/') state = State::between;
        if (c == '>') state = State::outside;
        break;
      case State::before_value:
        if (is_blank(c)) break;
        quote = c;
        state = c == '"' || c == '\'' ? State::quoted_value : c == '>' ? State::outside : State::bare_value;
        break;
      case State::bare_value:
        if (is_blank(c)) state = State::between;
        if (c == '>') state = State::outside;
        break;
      case State::quoted_value:
        if (c == quote) state = State::between;
        break;
    }
  }
  return false;
}

struct FreeParser {
  void operator()(xmlParserCtxt* parser) const { htmlFreeParserCtxt(parser); }
};

}  // namespace

std::string declared_encoding(std::string_view head) {
  const std::string lower = lower_case(head.substr(0, 4096));
  // <?xml version="1.0" encoding="utf-8"?>, <meta charset="utf-8">, <meta … content="text/html; charset=utf-8">
  for (const auto& [begin, key] : {std::pair{"<?xml", "encoding"}, std::pair{"<meta", "charset"}}) {
    for (std::size_t at = lower.find(begin); at != std::string::npos; at = lower.find(begin, at + 1)) {
      const std::string_view tag = std::string_view(lower).substr(at, lower.find('>', at) - at);
      std::size_t value = tag.find(key);
      if (value == std::string_view::npos) continue;
      value = tag.find_first_not_of(" \t\r\n=\"'", value + std::string_view(key).size());
      if (value == std::string_view::npos) continue;
      return std::string(tag.substr(value, tag.find_first_of(" \t\r\n\"';/?", value) - value));
    }
  }
  return {};
}

result<PlainText> reduce_html(std::string_view html) {
  if (html.size() > INT_MAX) return Error{Errc::input, "HTML of more than 2 GB"};
  if (has_endless_tag(html)) {
    return Error{Errc::input, "HTML with a tag of more than " + std::to_string(most_attributes) + " attributes"};
  }
  // Control characters would end the parser's text.
  std::string sound(html);
  std::replace_if(
      sound.begin(), sound.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 && !is_blank(c); }, ' ');

  const std::unique_ptr<xmlParserCtxt, FreeParser> parser(htmlNewParserCtxt());
  if (!parser) return Error{Errc::internal, "no memory for the HTML parser"};
  Reducer reducer(parser.get());
  // Without handlers for errors they are passed over in silence, and without the others no tree is built.
  *parser->sax = htmlSAXHandler{};
  parser->sax->startElement = on_start;
  parser->sax->endElement = on_end;
  parser->sax->characters = on_characters;
  parser->sax->cdataBlock = on_characters;
  parser->sax->ignorableWhitespace = on_characters;
  parser->userData = &reducer;
  const int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                      HTML_PARSE_IGNORE_ENC | HTML_PARSE_NODEFDTD;
  xmlFreeDoc(htmlCtxtReadMemory(parser.get(), sound.data(), static_cast<int>(sound.size()), nullptr, "UTF-8", options));
  return reducer.finish();
}

}  // namespace hedgerow
