#include "tests/peers/queries.hpp"

#include <algorithm>
#include <cctype>

namespace hedgerow::peers {

namespace {

constexpr std::size_t shortest_word = 3;
constexpr std::uint64_t most_words = 4;

bool is_letter(unsigned char c) { return c < 0x80 && std::isalpha(c) != 0; }
// Whatever an engine may take for a part of a word.
bool joins_words(unsigned char c) { return c >= 0x80 || std::isalnum(c) != 0 || c == '_'; }

}  // namespace

std::vector<std::string> plain_words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool plain = true;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const auto c = i < text.size() ? static_cast<unsigned char>(text[i]) : static_cast<unsigned char>(' ');
    if (joins_words(c)) {
      plain = plain && is_letter(c);
      word += static_cast<char>(std::tolower(c));
      continue;
    }
    if (plain && word.size() >= shortest_word) words.push_back(word);
    word.clear();
    plain = true;
  }
  return words;
}

std::optional<std::string> query_from(const Document& document, Random& random) {
  const bool from_title = random.chance(0.5);
  auto words = plain_words_of(from_title ? document.title : document.text);
  if (words.empty()) words = plain_words_of(from_title ? document.text : document.title);
  if (words.empty()) return std::nullopt;
  const std::size_t wanted = std::min<std::size_t>(1 + random.below(most_words), words.size());
  const std::size_t begin = random.below(words.size() - wanted + 1);
  std::vector<std::string> chosen;
  std::string query;
  for (std::size_t i = begin; i < begin + wanted; ++i) {
    if (std::find(chosen.begin(), chosen.end(), words[i]) != chosen.end()) continue;
    chosen.push_back(words[i]);
    query += (query.empty() ? "" : " ") + words[i];
  }
  return query;
}

QuerySample::QuerySample(std::size_t count, std::uint64_t seed) : count_(count), random_(seed) {}

void QuerySample::see(const Document& document) {
  // The n-th document takes a place of the sample with probability count / n (reservoir sampling).
  const std::uint64_t place = queries_.size() < count_ ? queries_.size() : random_.below(seen_ + 1);
  if (place >= count_) {
    ++seen_;
    return;
  }
  auto query = query_from(document, random_);
  if (!query) return;
  ++seen_;
  if (place == queries_.size()) {
    queries_.push_back(std::move(*query));
  } else {
    queries_[place] = std::move(*query);
  }
}

std::vector<std::string> QuerySample::queries() {
  for (std::size_t i = queries_.size(); i > 1; --i) std::swap(queries_[i - 1], queries_[random_.below(i)]);
  return queries_;
}

}  // namespace hedgerow::peers
