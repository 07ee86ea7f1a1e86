#include "small_collection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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

// Two to five characters out of a few, so that they come again.
std::string draw_ideographs(Random& random) {
  static constexpr std::array<const char*, 8> characters{"\u4e2d", "\u6587", "\u5b57", "\u66f8",
                                                         "\u304b", "\u306a", "\ud55c", "\uae00"};
  std::string text;
  for (std::uint64_t i = 2 + random.below(4); i > 0; --i) text += characters[random.below(characters.size())];
  return text;
}

constexpr std::array<const char*, 5> shelves{"upper", "Lower", "old books", "New Books", "c/d"};

std::map<std::string, std::vector<std::string>> draw_facets(Random& random, std::uint32_t i) {
  std::map<std::string, std::vector<std::string>> facets;
  facets["kind"] = {i % 2 == 0 ? "even" : "odd"};
  if (random.chance(0.8)) {
    const std::uint64_t first = random.below(shelves.size());
    facets["shelf-mark"] = {shelves[first]};
    if (random.chance(0.3)) facets["shelf-mark"].emplace_back(shelves[(first + 1) % shelves.size()]);
  }
  if (random.chance(0.9)) facets["year"] = {std::to_string(1990 + random.below(30))};
  if (random.chance(0.7)) {
    char number[32];
    std::snprintf(number, sizeof number, "%.2f", (random.uniform() - 0.3) * 1000);
    facets["weight"] = {number};
  }
  if (random.chance(0.9)) {
    static constexpr std::array<const char*, 4> times{"", "", "T06:30", "T23:59:59Z"};
    char date[16];
    std::snprintf(date, sizeof date, "20%02d-%02d-%02d", static_cast<int>(18 + random.below(5)),
                  static_cast<int>(1 + random.below(12)), static_cast<int>(1 + random.below(28)));
    facets["date"] = {std::string(date) + times[random.below(times.size())]};
  }
  return facets;
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
    if (i > 0 && random.chance(0.1)) document.text += " " + draw_ideographs(random);
    document.facets = draw_facets(random, i);
    collection.push_back(std::move(document));
  }
  return collection;
}

QueryMaterial material_of(const std::vector<Document>& documents, std::uint64_t seed) {
  Random random(seed);
  QueryMaterial material;
  // A word of the text, and the pair that it makes with the next one.
  const auto draw = [&](const std::string& text, std::vector<std::string>& single, QueryMaterial::Pairs& pairs) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    const std::size_t at = random.below(words.size());
    if (static_cast<unsigned char>(words[at].front()) >= 0x80) {
      material.ideographs.push_back(words[at]);
      return;
    }
    single.push_back(words[at]);
    if (at + 1 < words.size()) pairs.emplace_back(words[at], words[at + 1]);
  };
  for (int i = 0; i < 500; ++i) {
    const Document& document = documents[random.below(documents.size())];
    draw(document.text, material.words, material.neighbours);
    draw(document.title, material.title_words, material.title_neighbours);
    material.names.push_back(document.id);
    if (std::all_of(document.title.begin(), document.title.end(), [](unsigned char c) { return c < 0x80; })) {
      material.names.push_back(document.title);
    }
    for (const auto& [name, values] : document.facets) {
      const FacetValue value{name, values[random.below(values.size())]};
      if (name == "year" || name == "weight") material.numbers.push_back(value);
      if (name == "date") material.dates.push_back(value);
      // Values of numbers and dates hit a single document, if any.
      if (name == "kind" || name == "shelf-mark" || (name == "year" && random.chance(0.3))) {
        material.facet_values.push_back(value);
      }
    }
  }
  for (int i = 0; i < 10; ++i) material.ideographs.push_back(draw_ideographs(random));
  for (std::uint64_t rank = 0; rank < 60; ++rank) material.words.push_back(word_of(rank));
  for (std::uint64_t rank = 0; rank < 3; ++rank) material.frequent_words.push_back(word_of(rank));
  material.words.push_back("nowhere");
  material.facet_values.push_back({"kind", "neither"});
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
