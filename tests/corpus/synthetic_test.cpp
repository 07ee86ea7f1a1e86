#include "corpus/synthetic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <sstream>
#include <unordered_map>

#include "tests/corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::test;

namespace {

// The words of a text in lower case, without full stops.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word.back() == '.') word.pop_back();
    word[0] = static_cast<char>(word[0] | 0x20);
    words.push_back(word);
  }
  return words;
}

}  // namespace

TEST_CASE("no two ranks share a word, and commoner words are no longer than rarer ones") {
  std::set<std::string> seen;
  for (std::uint64_t rank = 1; rank <= 30'000; ++rank) {
    const std::string word = synthetic_word(rank);
    REQUIRE(seen.insert(word).second);
    REQUIRE(word.size() == (rank <= 100 ? 2 : rank <= 10'100 ? 4 : 6));
    for (std::size_t i = 0; i < word.size(); ++i) {
      REQUIRE((i % 2 == 1) == (std::string("aeiou").find(word[i]) != std::string::npos));
    }
  }
  CHECK(synthetic_word(1'000'000'000'000).size() == 12);
}

TEST_CASE("the same seed gives the same documents, whatever their number, and another seed gives others") {
  const Everything three = read_all("synthetic:3");
  const Everything ten = read_all("synthetic:10");
  REQUIRE(three.documents.size() == 3);
  REQUIRE(ten.documents.size() == 10);
  for (std::size_t i = 0; i < 3; ++i) CHECK(three.documents[i] == ten.documents[i]);
  CHECK(ten.documents[9] == synthetic_document(1, 10));
  CHECK(ten.documents[9].id == "synthetic-10");
  CHECK(ten.fractions[0] == doctest::Approx(0.1));
  CorpusSettings other;
  other.seed = 2;
  const Everything others = read_all("synthetic:10", other);
  for (std::size_t i = 0; i < 10; ++i) CHECK(others.documents[i].text != ten.documents[i].text);
}

TEST_CASE("a document that was once made stays as it is for ever") {
  // Fixed when the format was first published: indexes and experiments name documents by seed and number.
  const Document first = synthetic_document(1, 1);
  CHECK(first.title == "Ferusi vigo go");
  CHECK(first.text.starts_with("Mu tuvo cu nixi ferusi rafi duva xiri mo xa menu xipo kedu fede mu ti. Ma vega"));
}

// With Z = ln(10000) + 1 the share of rank r up to 10,000 is ln((r+1)/r)/Z, and that of all ranks beyond is 1/Z.
TEST_CASE("word frequencies follow the two regimes, and the vocabulary grows like the root of the text") {
  std::unordered_map<std::string, std::uint64_t> ranks;
  for (std::uint64_t rank = 1; rank < 10'000; ++rank) ranks[synthetic_word(rank)] = rank;
  std::vector<double> counts(10'000);
  double rare = 0;
  double words = 0;
  std::set<std::string> vocabulary;
  std::size_t vocabulary_of_a_quarter = 0;
  for (std::uint64_t number = 1; number <= 8000; ++number) {
    for (const std::string& word : words_of(synthetic_document(3, number).text)) {
      vocabulary.insert(word);
      words += 1;
      const auto rank = ranks.find(word);
      if (rank == ranks.end()) {
        rare += 1;
      } else {
        counts[rank->second] += 1;
      }
    }
    if (number == 2000) vocabulary_of_a_quarter = vocabulary.size();
  }
  // The mean of a log-normal of median 100 and sigma 0.67 is 125.
  CHECK(words / 8000 == doctest::Approx(125).epsilon(0.05));
  const double z = std::log(10'000.0) + 1;
  for (const std::uint64_t rank : {1, 2, 3, 10, 100}) {
    CAPTURE(rank);
    const double expected = std::log(static_cast<double>(rank + 1) / static_cast<double>(rank)) / z;
    // Words of titles recur, which spreads the counts somewhat; one part in ten is far beyond that.
    CHECK(counts[rank] / words == doctest::Approx(expected).epsilon(0.1));
  }
  CHECK(rare / words == doctest::Approx(1 / z).epsilon(0.05));
  const double growth = static_cast<double>(vocabulary.size()) / static_cast<double>(vocabulary_of_a_quarter);
  CHECK(growth > 1.4);
  CHECK(growth < 2.4);
}

TEST_CASE("a title's words recur in its text more often than chance would have them") {
  std::size_t recurring = 0;
  for (std::uint64_t number = 1; number <= 500; ++number) {
    const Document document = synthetic_document(1, number);
    const auto text = words_of(document.text);
    const std::set<std::string> in_text(text.begin(), text.end());
    for (const std::string& word : words_of(document.title)) {
      // Words of six letters are so rare that chance alone would hardly repeat them.
      if (word.size() >= 6 && in_text.contains(word)) ++recurring;
    }
  }
  CHECK(recurring > 50);
}
