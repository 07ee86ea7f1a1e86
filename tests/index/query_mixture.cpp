#include "query_mixture.hpp"

namespace hedgerow::test {

QueryMixture::QueryMixture(QueryMaterial material, std::uint64_t seed)
    : material_(std::move(material)), random_(seed) {}

std::string QueryMixture::word() { return material_.words[random_.below(material_.words.size())]; }

std::string QueryMixture::words(std::uint64_t count) {
  std::string text = word();
  for (std::uint64_t i = 1; i < count; ++i) text += " " + word();
  return text;
}

std::string QueryMixture::phrase() {
  if (random_.chance(0.2)) return "\"" + words(2) + "\"";
  const auto& [first, second] = material_.neighbours[random_.below(material_.neighbours.size())];
  return "\"" + first + " " + second + "\"";
}

std::string QueryMixture::next() {
  const std::string a = word();
  switch (shape_++ % 26) {
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

}  // namespace hedgerow::test
