#include "index/query_text.hpp"

#include <xapian.h>

#include <algorithm>
#include <array>
#include <optional>

#include "index/fields.hpp"
#include "index/text_words.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t widest_near = 1000;

bool is_quote(unsigned character) { return character == '"' || character == 0x201c || character == 0x201d; }
bool is_blank(unsigned character) { return character <= ' ' || Xapian::Unicode::is_whitespace(character); }
bool is_digit(unsigned character) { return character >= '0' && character <= '9'; }
// As the parser: of the Latin alphabet only.
bool is_upper(unsigned character) { return character >= 'A' && character <= 'Z'; }

std::string name_list(const std::vector<FacetField>& facets) {
  std::string names(fields::title);
  constexpr std::size_t most_shown = 20;
  for (std::size_t i = 0; i < std::min(facets.size(), most_shown); ++i) names += ", " + facets[i].name;
  if (facets.size() > most_shown) names += ", …";
  return names;
}

class Preparer {
 public:
  Preparer(std::string_view typed, const std::vector<FacetField>& facets) : facets_(facets) {
    const std::string bytes(typed);
    for (Xapian::Utf8Iterator at(bytes), end; at != end; ++at) {
      characters_.push_back(*at);
      places_.push_back(static_cast<std::size_t>(at.raw() - bytes.data()));
    }
    places_.push_back(typed.size());
    for (const auto& facet : facets) names_.push_back(characters_of(fields::in_lower_case(facet.name)));
    // Never what somebody typed.
    ready_.mark = "hedgerowfacet";
    const std::string lower = fields::in_lower_case(bytes);
    while (lower.find(ready_.mark) != std::string::npos) ready_.mark += "x";
  }

  result<QueryText> prepare() {
    read(0, characters_.size(), true);
    if (error_) return *error_;
    return std::move(ready_);
  }

 private:
  static std::vector<unsigned> characters_of(const std::string& text) {
    std::vector<unsigned> characters;
    for (Xapian::Utf8Iterator at(text), end; at != end; ++at) characters.push_back(*at);
    return characters;
  }

  void read(std::size_t from, std::size_t to, bool with_fields) {
    bool quoted = false;
    std::size_t quote_begin = 0;
    std::size_t at = from;
    while (at < to && !error_) {
      const unsigned character = characters_[at];
      if (is_quote(character)) {
        quoted = !quoted;
        if (quoted) quote_begin = at;
        if (!quoted) set_apart(quote_begin, at + 1);
        put(character);
        ++at;
      } else if (with_fields && !quoted && begins_token(at)) {
        at = read_token(at, to);
      } else if (Xapian::Unicode::is_wordchar(character)) {
        at = read_word(at, to, quoted);
      } else {
        put(character);
        ++at;
      }
    }
    if (quoted) set_apart(quote_begin, to);
  }

  // A field may stand behind a blank, a parenthesis, a quoted phrase, or the + or - of a word.
  bool begins_token(std::size_t at) const {
    if (is_blank(characters_[at])) return false;
    if (at == 0) return true;
    const unsigned before = characters_[at - 1];
    if (before == '+' || before == '-') {
      return at == 1 || is_blank(characters_[at - 2]) || characters_[at - 2] == '(';
    }
    return is_blank(before) || before == '(' || before == ')' || is_quote(before);
  }

  std::size_t read_token(std::size_t at, std::size_t to) {
    const auto facet = facet_at(at, to);
    // "title:" is the parser's to read, even where a facet has that name.
    if (facet && facets_[*facet].name != fields::title) {
      return read_filter(at, at + names_[*facet].size() + 1, to, *facet);
    }
    if (Xapian::Unicode::is_wordchar(characters_[at])) {
      const std::size_t colon = word_end(at, to);
      if (looks_like_field(at, colon, to)) return read_unknown_field(at, colon, to);
      return read_word(at, to, false);
    }
    put(characters_[at]);
    return at + 1;
  }

  // The facet whose name and a colon stand here, with something behind it; of several the one with the longest name.
  std::optional<std::size_t> facet_at(std::size_t at, std::size_t to) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto& name = names_[i];
      if (at + name.size() >= to || characters_[at + name.size()] != ':') continue;
      const bool same = std::equal(name.begin(), name.end(), characters_.begin() + static_cast<std::ptrdiff_t>(at),
                                   [](unsigned a, unsigned b) { return a == Xapian::Unicode::tolower(b); });
      if (same && (!found || name.size() > names_[*found].size())) found = i;
    }
    return found;
  }

  std::size_t read_filter(std::size_t at, std::size_t value, std::size_t to, std::size_t facet) {
    const std::string& name = facets_[facet].name;
    if (value < to && characters_[value] == '(') {
      fail(name + ": takes one value, or one in quotes; two of them, " + name + ":a " + name + ":b, mean either");
      return to;
    }
    const std::size_t end = value_end(value, to);
    const bool quoted = value < to && is_quote(characters_[value]);
    const std::string text = quoted ? unquoted(value, end) : text_of(value, end);
    if (text.empty()) {
      ready_.notes.push_back(name + ": needs a value right behind the colon; it was left out");
      return end;
    }
    set_apart(at, end);
    put(ready_.mark + std::to_string(facet) + ":" + std::to_string(ready_.filters.size()) + " ");
    ready_.filters.push_back({facet, text, quoted});
    return end;
  }

  // Up to the closing quote, or to a blank or ")".
  std::size_t value_end(std::size_t at, std::size_t to) const {
    if (at < to && is_quote(characters_[at])) {
      for (++at; at < to; ++at) {
        if (!is_quote(characters_[at])) continue;
        // Two quotes are one of the value.
        if (at + 1 < to && characters_[at] == '"' && characters_[at + 1] == '"') {
          ++at;
          continue;
        }
        return at + 1;
      }
      return to;
    }
    while (at < to && !is_blank(characters_[at]) && characters_[at] != ')') ++at;
    return at;
  }

  std::string unquoted(std::size_t from, std::size_t to) const {
    std::string value;
    for (std::size_t at = from + 1; at < to; ++at) {
      if (is_quote(characters_[at])) {
        if (at + 1 >= to) break;
        ++at;
      }
      Xapian::Unicode::append_utf8(value, characters_[at]);
    }
    return value;
  }

  std::string text_of(std::size_t from, std::size_t to) const {
    std::string text;
    for (std::size_t at = from; at < to; ++at) Xapian::Unicode::append_utf8(text, characters_[at]);
    return text;
  }

  std::size_t word_end(std::size_t at, std::size_t to) const {
    while (at < to && (Xapian::Unicode::is_wordchar(characters_[at]) || characters_[at] == '-')) ++at;
    return at;
  }

  // "name:value" with a letter in front, but no address (http://…), no time (12:30), no scope (std::vector).
  bool looks_like_field(std::size_t at, std::size_t colon, std::size_t to) const {
    if (colon + 1 >= to || characters_[colon] != ':' || is_digit(characters_[at])) return false;
    if (fields::in_lower_case(text_of(at, colon)) == fields::title) return false;
    const unsigned next = characters_[colon + 1];
    return Xapian::Unicode::is_wordchar(next) || is_quote(next);
  }

  // The field's name and its value, as words that belong together: a mark before the name is one before both.
  std::size_t read_unknown_field(std::size_t at, std::size_t colon, std::size_t to) {
    const std::size_t end = value_end(colon + 1, to);
    ready_.notes.push_back("there is no field '" + text_of(at, colon) + "': it was read as a word; fields are " +
                           name_list(facets_));
    put("(");
    read(at, colon, false);
    put(" ");
    read(colon + 1, end, false);
    // A lone quote must not reach beyond the value.
    if (is_quote(characters_[colon + 1]) && end == to && (end == colon + 2 || !is_quote(characters_[end - 1]))) put("\"");
    put(") ");
    return end;
  }

  std::size_t read_word(std::size_t at, std::size_t to, bool quoted) {
    if (const std::size_t end = acronym_end(at, to); end > at) {
      put(text_of(at, end));
      return end;
    }
    std::size_t end = at;
    const bool ideographs = is_ideograph(characters_[at]);
    while (end < to && Xapian::Unicode::is_wordchar(characters_[end]) && is_ideograph(characters_[end]) == ideographs) {
      ++end;
    }
    const std::string word = text_of(at, end);
    if (!quoted && is_operator(word, at, end, to)) {
      put(word);
      return end;
    }
    put(fields::in_lower_case(word));
    // The parser (1.4) does not understand words before and behind n-grams without something in between.
    if (ideographs && !quoted) put(",");
    return end;
  }

  // The end of "U.S.A" or "U.S.A.", as the parser sees it; at, where none begins here.
  std::size_t acronym_end(std::size_t at, std::size_t to) const {
    if (at > 0 && Xapian::Unicode::is_wordchar(characters_[at - 1])) return at;
    std::size_t letters = 0;
    std::size_t end = at;
    std::size_t next = at;
    while (next < to && is_upper(characters_[next])) {
      ++letters;
      end = next + 1;
      if (end >= to || characters_[end] != '.') break;
      next = end + 1;
    }
    const bool goes_on = end < to && Xapian::Unicode::is_wordchar(characters_[end]);
    const bool goes_on_behind_dot =
        end + 1 < to && characters_[end] == '.' && Xapian::Unicode::is_wordchar(characters_[end + 1]);
    return letters > 1 && !goes_on && !goes_on_behind_dot ? end : at;
  }

  bool is_operator(const std::string& word, std::size_t at, std::size_t end, std::size_t to) {
    static constexpr std::array plain{"AND", "OR", "NOT", "XOR", "NEAR", "ADJ"};
    if (std::find(plain.begin(), plain.end(), word) == plain.end()) return false;
    const auto stands_alone = [](unsigned character) {
      return is_blank(character) || character == '(' || character == ')' || is_quote(character);
    };
    if (at > 0 && !stands_alone(characters_[at - 1])) return false;
    if (end == to || stands_alone(characters_[end])) return true;
    if ((word != "NEAR" && word != "ADJ") || characters_[end] != '/') return false;
    std::size_t distance = 0;
    std::size_t next = end + 1;
    for (; next < to && is_digit(characters_[next]); ++next) {
      distance = std::min(distance * 10 + (characters_[next] - '0'), widest_near + 1);
    }
    if (distance == 0 || (next < to && !is_blank(characters_[next]))) return false;
    if (distance > widest_near) fail(word + "/N takes a distance from 1 to " + std::to_string(widest_near));
    return true;
  }

  void set_apart(std::size_t from, std::size_t to) { ready_.set_apart.emplace_back(places_[from], places_[to]); }
  void put(unsigned character) { Xapian::Unicode::append_utf8(ready_.text, character); }
  void put(const std::string& text) { ready_.text += text; }
  void put(const char* text) { ready_.text += text; }
  void fail(std::string context) {
    if (!error_) error_ = Error{Errc::invalid_argument, std::move(context)};
  }

  const std::vector<FacetField>& facets_;
  std::vector<std::vector<unsigned>> names_;  // in lower case
  std::vector<unsigned> characters_;
  std::vector<std::size_t> places_;  // in bytes, of each character and of the end
  QueryText ready_;
  std::optional<Error> error_;
};

}  // namespace

result<QueryText> prepare_query_text(std::string_view typed, const std::vector<FacetField>& facets) {
  return Preparer(typed, facets).prepare();
}

}  // namespace hedgerow
