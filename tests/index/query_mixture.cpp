#include "query_mixture.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace hedgerow::test {

namespace {

template <typename T>
const T& drawn(const std::vector<T>& from, Random& random) {
  return from[random.below(from.size())];
}

std::string quoted(const std::pair<std::string, std::string>& pair) {
  return "\"" + pair.first + " " + pair.second + "\"";
}

}  // namespace

QueryMixture::QueryMixture(QueryMaterial material, std::uint64_t seed)
    : material_(std::move(material)), random_(seed) {
  const auto add = [this](Shape shape, std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) shapes_.push_back(shape);
  };
  const bool titles = !material_.title_words.empty() && !material_.title_neighbours.empty();
  add(&QueryMixture::plain, 26);
  if (titles) add(&QueryMixture::titled, 9);
  if (!material_.facet_values.empty()) add(&QueryMixture::filtered, 17);
  if (!material_.numbers.empty() && !material_.dates.empty()) add(&QueryMixture::ranged, 11);
  add(&QueryMixture::expanded, 10);
  if (!material_.frequent_words.empty()) add(&QueryMixture::frequent, 12);
  add(&QueryMixture::written_otherwise, 4);
  if (!material_.ideographs.empty()) add(&QueryMixture::ideographic, 5);
  if (!material_.names.empty()) add(&QueryMixture::joined, 9);
  if (!material_.synonym_words.empty()) add(&QueryMixture::synonymous, 6);
}

std::string QueryMixture::next() { return (this->*shapes_[shape_++ % shapes_.size()])(); }

std::string QueryMixture::word() { return drawn(material_.words, random_); }

std::string QueryMixture::words(std::uint64_t count) {
  std::string text = word();
  for (std::uint64_t i = 1; i < count; ++i) text += " " + word();
  return text;
}

std::string QueryMixture::phrase() {
  if (random_.chance(0.2)) return "\"" + words(2) + "\"";
  return quoted(drawn(material_.neighbours, random_));
}

std::string QueryMixture::title_word() {
  return "title:" + (random_.chance(0.2) ? word() : drawn(material_.title_words, random_));
}

std::string QueryMixture::title_phrase() { return "title:" + quoted(drawn(material_.title_neighbours, random_)); }

std::string QueryMixture::frequent_word() { return drawn(material_.frequent_words, random_); }

std::string QueryMixture::filter_of(const FacetValue& value) {
  std::string text = value.value;
  const bool bare = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c >= 0x80 || std::isalnum(c) != 0 || c == '-' || c == '/' || c == '_';
  });
  if (random_.chance(0.1)) text = capitalised(text);
  if (bare && text.size() > 2 && random_.chance(0.05)) return value.name + ":" + text.substr(0, 2) + "*";
  return value.name + ":" + (bare && random_.chance(0.8) ? text : "\"" + text + "\"");
}

std::string QueryMixture::filter() { return filter_of(drawn(material_.facet_values, random_)); }

std::string QueryMixture::range() {
  const bool of_dates = random_.chance(0.5);
  const auto& values = of_dates ? material_.dates : material_.numbers;
  const FacetValue& one = drawn(values, random_);
  const FacetValue* other = &drawn(values, random_);
  for (int tries = 0; other->name != one.name && tries < 100; ++tries) other = &drawn(values, random_);
  std::string from = one.value;
  std::string to = other->name == one.name ? other->value : one.value;
  if (of_dates) {
    if (from.size() >= 10 && random_.chance(0.3)) from.resize(7);
    if (to.size() >= 10 && random_.chance(0.3)) to.resize(7);
    if (to < from) std::swap(from, to);
    if (random_.chance(0.1)) from.resize(4);
  } else if (std::strtod(to.c_str(), nullptr) < std::strtod(from.c_str(), nullptr)) {
    std::swap(from, to);
  }
  if (random_.chance(0.2)) from.clear();
  if (!from.empty() && random_.chance(0.2)) to.clear();
  return one.name + ":" + from + ".." + to;
}

std::string QueryMixture::prefix() {
  std::string text = word();
  // Cut between bytes only where characters are bytes.
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0; })) return text;
  const std::uint64_t length = 2 + random_.below(4);
  if (text.size() < 2) return text;
  return text.substr(0, length) + "*";
}

std::string QueryMixture::capitalised(std::string text) {
  // A short word could become an operator.
  const bool whole = text.size() > 4 && random_.chance(0.3);
  for (char& c : text) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (!whole) break;
  }
  return text;
}

std::string QueryMixture::plain() {
  const std::string a = word();
  switch (plain_++ % 26) {
    case 0: return a;
    case 1: return words(2);
    case 2: return words(3);
    case 3: return words(4);
    case 4: return words(6);
    case 5: return a + " " + a + " " + word();
    case 6: return a + " " + word() + " " + a + " " + word() + " " + a;
    case 7: return phrase();
    case 8: return phrase() + " " + a;
    case 9: return phrase() + " " + phrase() + " " + word();
    case 10: return "+" + a + " " + words(2);
    case 11: return "+" + a + " +" + word() + " " + word();
    case 12: return "+" + a + " " + words(3) + " -" + word();
    case 13: return words(3) + " -" + word();
    case 14: return a + " AND " + word();
    case 15: return "(" + a + " OR " + word() + ") AND " + word();
    case 16: return a + " AND NOT " + word();
    case 17: return words(2) + " NOT " + word();
    case 18: return "(" + a + " AND " + word() + ") OR (" + word() + " AND " + word() + ") OR " + word();
    case 19: return "+" + phrase() + " " + phrase() + " " + a;
    case 20: return "+" + a + " " + phrase() + " " + phrase() + " " + word();
    case 21: return words(2) + " -" + phrase();
    case 22: return phrase() + " OR (" + a + " NOT " + word() + ") OR " + word();
    case 23: return "(" + words(2) + ") AND (" + words(2) + ") " + (random_.chance(0.5) ? "AND " : "OR ") + word();
    case 24: return "(" + a + " AND " + phrase() + ") OR (+" + word() + " " + words(2) + ")";
    default: return a + " NEAR " + word() + " " + words(2);
  }
}

std::string QueryMixture::titled() {
  switch (titled_++ % 9) {
    case 0: return title_word();
    case 1: return title_word() + " " + words(2);
    case 2: return title_phrase();
    case 3: return title_phrase() + " " + words(2);
    case 4: return "+" + title_word() + " " + words(2);
    case 5: return words(2) + " -" + title_word();
    case 6: return title_word() + " AND (" + title_word() + " OR " + word() + ")";
    case 7: return "(" + title_phrase() + " OR " + title_word() + ") " + phrase() + " " + word();
    default: return "+" + word() + " " + title_phrase() + " " + title_word() + " -" + phrase();
  }
}

std::string QueryMixture::filtered() {
  switch (filtered_++ % 17) {
    case 0: return filter();
    case 1: return filter() + " " + words(2);
    case 2: return words(3) + " " + filter();
    case 3: return filter() + " OR " + filter();
    case 4: return "(" + filter() + " OR " + filter() + ") AND " + word();
    case 5: return words(2) + " -" + filter();
    case 6: return word() + " NOT " + filter();
    case 7: return "+" + filter() + " " + words(2);
    case 8: return "+" + word() + " " + word() + " " + filter();
    case 9: return word() + " OR " + filter();
    case 10: return filter() + " -" + word();
    case 11: return filter() + " " + filter() + " " + word();
    case 12: return filter() + " AND " + filter();
    case 13: return phrase() + " " + filter() + " " + word();
    case 14: return "(" + word() + " " + filter() + ") OR (" + word() + " AND " + filter() + ") OR " + word();
    case 15: return "+" + word() + " (" + filter() + " OR " + phrase() + ") -" + filter();
    default: return filter() + " -" + filter();
  }
}

std::string QueryMixture::ranged() {
  const bool facets = !material_.facet_values.empty();
  switch (ranged_++ % 11) {
    case 0: return range();
    case 1: return range() + " " + words(2);
    case 2: return words(3) + " " + range();
    case 3: return words(2) + " -" + range();
    case 4: return word() + " OR " + range();
    case 5: return "+" + word() + " " + word() + " " + range() + " -" + word();
    case 6: return range() + " OR " + range();
    case 7: return "(" + range() + " OR " + (facets ? filter() : range()) + ") AND (" + words(2) + ")";
    case 8: return phrase() + " AND " + range();
    case 9: return (facets ? filter() : word()) + " " + range() + " " + words(2);
    default: return "(" + word() + " AND " + range() + ") OR " + phrase() + " OR " + word();
  }
}

std::string QueryMixture::expanded() {
  const bool titles = !material_.title_words.empty();
  const bool facets = !material_.facet_values.empty();
  switch (expanded_++ % 10) {
    case 0: return prefix();
    case 1: return prefix() + " " + words(2);
    case 2: return "+" + prefix() + " " + words(2);
    case 3: return words(2) + " -" + prefix();
    case 4: return (titles ? "title:" : "") + prefix();
    case 5: return "+" + word() + " " + (titles ? "title:" : "") + prefix();
    case 6: return "(" + prefix() + " OR " + word() + ") AND " + word();
    case 7: return phrase() + " " + prefix() + " " + word();
    case 8: return prefix() + " AND " + prefix();
    default: return (facets ? filter() + " " : "") + prefix() + " -" + word();
  }
}

std::string QueryMixture::frequent() {
  const bool facets = !material_.facet_values.empty();
  switch (frequent_++ % 12) {
    case 0: return frequent_word() + " " + word();
    case 1: return word() + " " + frequent_word() + " " + word() + " " + frequent_word();
    case 2: return frequent_word();
    case 3: return frequent_word() + " " + frequent_word();
    case 4: return "+" + frequent_word() + " " + word();
    case 5: return "+" + word() + " " + frequent_word() + " -" + word();
    case 6: return frequent_word() + " AND " + word();
    case 7: return "(" + frequent_word() + " " + word() + ") OR " + phrase();
    case 8: return frequent_word() + " " + phrase() + " " + prefix();
    case 9: return frequent_word() + " OR (" + (facets ? filter() + " AND " + filter() : word()) + ")";
    case 10: return frequent_word() + " OR " + (facets ? filter() + " -" + filter() : word());
    default: return (facets ? filter() + " " : "") + frequent_word() + " " + words(2);
  }
}

std::string QueryMixture::written_otherwise() {
  switch (written_otherwise_++ % 4) {
    case 0: return capitalised(word()) + " " + capitalised(word());
    case 1: return "+" + capitalised(word()) + " " + word() + " -" + capitalised(word());
    case 2: return capitalised(phrase()) + " " + capitalised(word());
    default: return word() + ", " + capitalised(word()) + ". " + word() + "?";
  }
}

std::string QueryMixture::joined() {
  const auto join = [this](const char* with) {
    const auto& [a, b] = drawn(material_.neighbours, random_);
    return a + with + (random_.chance(0.7) ? b : word());
  };
  const std::string name = drawn(material_.names, random_);
  switch (joined_++ % 9) {
    case 0: return name;
    case 1: return " " + capitalised(name) + " ";
    case 2: return join("-");
    case 3: return join("-") + " " + words(2);
    case 4: return word() + " " + join("/") + " " + join(".");
    case 5: return "+" + join("-") + " " + words(2);
    case 6: return words(2) + " -" + join("-") + " " + join("-");
    case 7: return join("-") + " AND " + word();
    default: return join("-") + "-" + word() + " " + phrase();
  }
}

std::string QueryMixture::ideographic() {
  const std::string run = drawn(material_.ideographs, random_);
  switch (ideographic_++ % 5) {
    case 0: return run;
    case 1: return run + " " + words(2);
    case 2: return "\"" + run + "\" " + word();
    case 3: return word() + " " + run + " " + word();
    default: return "+" + run + " " + drawn(material_.ideographs, random_) + " " + word();
  }
}

std::string QueryMixture::synonymous() {
  const std::string one = drawn(material_.synonym_words, random_);
  const bool single = one.find(' ') == std::string::npos;
  switch (synonymous_++ % 6) {
    case 0: return one;
    case 1: return one + " " + words(2);
    case 2: return (single ? "+" + one : "+\"" + one + "\"") + " " + words(2);
    case 3: return words(2) + " -" + (single ? one : "(" + one + ")");
    case 4: return single ? "title:" + one + " " + word() : "title:\"" + one + "\" " + word();
    default: return "(" + one + " OR " + phrase() + ") AND " + word();
  }
}

}  // namespace hedgerow::test
