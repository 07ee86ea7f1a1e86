#include "small_collection.hpp"

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "base/random.hpp"
#include "index/builder.hpp"

namespace hedgerow::test {

namespace {

// Pronounceable, some with endings that the stemmer takes off.
std::string word_of(std::uint64_t rank) {
  static const char* const syllables[] = {"ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu"};
  static const char* const endings[] = {"", "", "s", "ing", "ed"};
  std::string word = syllables[rank % 10];
  word += syllables[rank / 10 % 10];
  if (rank >= 100) word += syllables[rank / 100 % 10];
  return word + "t" + endings[rank % 5];
}

// Zipf with exponent 1: the rank is the exponential of a uniform number.
std::uint64_t draw_rank(Random& random, std::uint64_t vocabulary) {
  return static_cast<std::uint64_t>(std::exp(random.uniform() * std::log(static_cast<double>(vocabulary)))) - 1;
}

std::string draw_text(Random& random, std::uint64_t length, std::uint64_t vocabulary) {
  std::string text;
  for (std::uint64_t i = 0; i < length; ++i) text += (i == 0 ? "" : " ") + word_of(draw_rank(random, vocabulary));
  return text;
}

}  // namespace

std::vector<Document> small_collection(std::uint32_t documents, std::uint64_t seed, std::uint64_t vocabulary) {
  Random random(seed);
  std::vector<Document> collection;
  for (std::uint32_t i = 0; i < documents; ++i) {
    Document document;
    document.id = "doc-" + std::to_string(i);
    document.url = "https://example.org/" + std::to_string(i);
    if (i > 0 && random.chance(0.2)) {
      // The same words again, for a tie.
      const Document& twin = collection[random.below(collection.size())];
      document.title = twin.title;
      document.text = twin.text;
    } else {
      document.title = draw_text(random, 1 + random.below(3), vocabulary);
      document.text = draw_text(random, random.chance(0.4) ? 2 : 2 + random.below(60), vocabulary);
    }
    document.facets["kind"] = {i % 2 == 0 ? "even" : "odd"};
    collection.push_back(std::move(document));
  }
  return collection;
}

QueryMaterial material_of(const std::vector<Document>& documents, std::uint64_t seed) {
  Random random(seed);
  QueryMaterial material;
  for (int i = 0; i < 500; ++i) {
    std::istringstream text(documents[random.below(documents.size())].text);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    const std::size_t at = random.below(words.size());
    material.words.push_back(words[at]);
    if (at + 1 < words.size()) material.neighbours.emplace_back(words[at], words[at + 1]);
  }
  for (std::uint64_t rank = 0; rank < 60; ++rank) material.words.push_back(word_of(rank));
  material.words.push_back("nowhere");
  return material;
}

ReadOutcome VectorReader::next() {
  if (!failures_.empty() && failures_.front().first == next_) {
    ReadError error = failures_.front().second;
    failures_.erase(failures_.begin());
    ++errors_;
    return error;
  }
  if (next_ == documents_.size()) return EndOfCorpus{};
  return documents_[next_++];
}

void VectorReader::fail_before(std::size_t index, ReadError error) { failures_.emplace_back(index, std::move(error)); }

Manifest build_small(const std::vector<Document>& documents, const std::filesystem::path& directory,
                     std::uint32_t partitions) {
  VectorReader reader(documents);
  BuildSettings settings;
  settings.directory = directory;
  settings.collection = "small";
  settings.partitions = partitions;
  settings.threads = 2;
  const auto manifest = build_index(reader, settings);
  if (!manifest) throw std::runtime_error(to_string(manifest.error()));
  return *manifest;
}

}  // namespace hedgerow::test
