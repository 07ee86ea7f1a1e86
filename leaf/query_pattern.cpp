#include "leaf/query_pattern.hpp"

#include <fnmatch.h>

#include <algorithm>

#include "index/fields.hpp"

namespace hedgerow::leaf {

namespace {

constexpr std::size_t longest_pattern = 1'000;
constexpr std::string_view pattern_blanks = " \t\r\n";
constexpr char stem_mark = 'Z';

// Terms with a prefix begin with a capital, words never do.
bool is_prefixed(std::string_view term) { return !term.empty() && term.front() >= 'A' && term.front() <= 'Z'; }

}  // namespace

result<QueryPattern> QueryPattern::parse(std::string_view text) {
  const auto wrong = [](const char* why) { return Error{Errc::invalid_argument, why}; };
  if (text.size() > longest_pattern) return wrong("is longer than 1,000 bytes");
  QueryPattern pattern;
  pattern.text_ = text;
  while (true) {
    const auto begin = text.find_first_not_of(pattern_blanks);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    std::string_view word = text.substr(0, text.find_first_of(pattern_blanks));
    text.remove_prefix(word.size());

    Part part;
    part.excluded = word.starts_with('-');
    if (part.excluded) word.remove_prefix(1);
    if (const auto colon = word.find(':'); colon != std::string_view::npos && colon > 0) {
      const std::string_view field = word.substr(0, colon);
      part.stemmed = field == fields::title;
      part.prefix = part.stemmed ? std::string(fields::title_prefix) : fields::facet_term_prefix(field);
      word.remove_prefix(colon + 1);
    }
    if (word.empty()) return wrong("has a pattern of nothing");
    part.look = fields::in_lower_case(word);
    part.wild = part.look.find_first_of("*?[") != std::string::npos;
    pattern.parts_.push_back(std::move(part));
  }
  if (pattern.parts_.empty()) return wrong("has no pattern");
  return pattern;
}

bool QueryPattern::meets(const Part& part, const std::string& term, const std::string& stem) {
  std::string_view rest = term;
  const bool is_stem = part.stemmed && rest.size() > 1 && rest.front() == stem_mark;
  if (is_stem) rest.remove_prefix(1);
  if (part.prefix.empty() ? is_prefixed(rest) : !rest.starts_with(part.prefix)) return false;
  rest.remove_prefix(part.prefix.size());
  if (part.wild) return ::fnmatch(part.look.c_str(), std::string(rest).c_str(), 0) == 0;
  return rest == (is_stem ? stem : part.look);
}

bool QueryPattern::matches(const std::vector<std::string>& terms, const Stem& stem) const {
  return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    const std::string stemmed = part.wild || !part.stemmed ? std::string() : stem(part.look);
    const bool met = std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return meets(part, term, stemmed); });
    return met != part.excluded;
  });
}

bool has_word(const std::vector<std::string>& terms, std::string_view word, const QueryPattern::Stem& stem) {
  const std::string lower = fields::in_lower_case(word);
  const std::string stemmed = stem_mark + stem(lower);
  return std::any_of(terms.begin(), terms.end(), [&](const auto& term) { return term == lower || term == stemmed; });
}

}  // namespace hedgerow::leaf
