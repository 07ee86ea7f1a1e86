#include "tests/peers/sphinx_query.hpp"

#include <cctype>

namespace hedgerow::peers {

namespace {

// Letters, digits, and whatever is beyond ASCII: nothing else is a word here, so no operator and no quote gets through.
bool of_a_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0;
}

std::string any_of_words(std::string_view query) {
  std::string out;
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (!of_a_word(query[i])) continue;
    if (i > 0 && !of_a_word(query[i - 1]) && !out.empty()) out += " | ";
    out += query[i];
  }
  return out;
}

}  // namespace

std::string sphinx_statement(std::string_view query, const SphinxAsking& asking) {
  return "SELECT name, title, url FROM " + asking.index + " WHERE MATCH('" + any_of_words(query) + "') LIMIT " + std::to_string(wanted_hits) +
         " OPTION ranker=bm25, max_matches=" + std::to_string(asking.most_matches);
}

}  // namespace hedgerow::peers
