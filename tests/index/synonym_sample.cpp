#include "synonym_sample.hpp"

#include <algorithm>
#include <set>

namespace hedgerow::test {

namespace {

std::vector<std::string> usable(const std::vector<std::string>& words, std::size_t most, const std::string& stemmer) {
  const Xapian::Stem stem(stemmer);
  std::set<std::string> stems;
  std::vector<std::string> chosen;
  for (const auto& word : words) {
    const bool simple =
        word.size() >= 3 && std::all_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (simple && stems.insert(stem(word)).second) chosen.push_back(word);
    if (chosen.size() == most) break;
  }
  return chosen;
}

}  // namespace

SynonymSample sample_synonyms(const std::vector<std::string>& words, std::size_t most, const std::string& stemmer) {
  SynonymSample sample;
  sample.text = "# each line takes five words\n";
  const auto chosen = usable(words, most, stemmer);
  for (std::size_t i = 0; i + 5 <= chosen.size(); i += 5) {
    const std::string &a = chosen[i], &b = chosen[i + 1], &c = chosen[i + 2], &d = chosen[i + 3], &e = chosen[i + 4];
    const std::string sequence = c + " " + d;
    if (i % 2 == 0) {
      sample.text += a + ", " + b + ", \"" + sequence + "\"\n";
      sample.text += e + " => " + c + "\n";
      sample.meaning.push_back({a, {b, sequence}});
      sample.meaning.push_back({b, {a, sequence}});
      sample.meaning.push_back({sequence, {a, b}});
      sample.meaning.push_back({e, {c}});
      sample.words.insert(sample.words.end(), {a, b, sequence, e});
    } else {
      sample.text += sequence + " => " + a + ", " + b + " " + e + "\n";
      sample.meaning.push_back({sequence, {a, b + " " + e}});
      sample.words.push_back(sequence);
    }
  }
  return sample;
}

}  // namespace hedgerow::test
