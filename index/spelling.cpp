#include "index/spelling.hpp"

#include <xapian.h>

#include <utility>

#include "index/database_label.hpp"
#include "index/engine_error.hpp"
#include "index/fields.hpp"

namespace hedgerow {

namespace {

constexpr std::size_t shortest_word = 3;
constexpr std::size_t longest_word = 32;
constexpr unsigned most_edits = 2;

}  // namespace

bool is_spelling_word(std::string_view term) {
  // Plain words are in lower case: a capital opens the prefix of a stem or a field.
  if (term.empty() || (term.front() >= 'A' && term.front() <= 'Z')) return false;
  std::size_t digits = 0;
  std::size_t characters = 0;
  for (Xapian::Utf8Iterator at(term.data(), term.size()); at != Xapian::Utf8Iterator(); ++at) {
    if (fields::is_indexed_by_characters(*at) || ++characters > longest_word) return false;
    if (Xapian::Unicode::get_category(*at) == Xapian::Unicode::DECIMAL_DIGIT_NUMBER) ++digits;
  }
  return characters >= shortest_word && digits * 2 < characters;
}

struct SpellingDictionary::Implementation {
  Xapian::Database database;
  std::string name;
};

SpellingDictionary::SpellingDictionary(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
SpellingDictionary::SpellingDictionary(SpellingDictionary&&) noexcept = default;
SpellingDictionary& SpellingDictionary::operator=(SpellingDictionary&&) noexcept = default;
SpellingDictionary::~SpellingDictionary() = default;

result<SpellingDictionary> SpellingDictionary::open(const std::filesystem::path& directory, const Manifest& manifest) {
  auto database = open_labelled(directory / manifest.spelling_file,
                                {.kind = "spelling",
                                 .generation = manifest.generation,
                                 .number = static_cast<std::uint32_t>(manifest.partitions.size()),
                                 .documents = manifest.documents});
  if (!database) return database.error();
  auto implementation = std::make_unique<Implementation>();
  implementation->database = std::move(*database);
  implementation->name = manifest.spelling_file;
  return SpellingDictionary(std::move(implementation));
}

result<std::optional<SpellingDictionary::Suggestion>> SpellingDictionary::suggest(std::string_view word) const {
  const auto& self = *implementation_;
  return translating_exceptions(self.name, [&]() -> result<std::optional<Suggestion>> {
    std::optional<Suggestion> found;
    if (!is_spelling_word(word)) return found;
    const auto frequency_of = [&](const std::string& candidate) -> std::uint32_t {
      auto entry = self.database.spellings_begin();
      entry.skip_to(candidate);
      return entry != self.database.spellings_end() && *entry == candidate ? entry.get_termfreq() : 0;
    };
    const std::uint32_t own = frequency_of(std::string(word));
    const auto consider = [&](const std::string& candidate) {
      const std::uint32_t frequency = frequency_of(candidate);
      if (frequency == 0 || frequency < own) return;
      if (!found || frequency > found->document_frequency) found = Suggestion{candidate, frequency};
    };
    // The engine misses many words with two letters swapped ("pyhton"): it looks only at those that share enough groups
    // of letters. They are one edit away, so nothing is nearer.
    std::string swapped(word);
    for (std::size_t i = 0; i + 1 < swapped.size(); ++i) {
      const bool letters = static_cast<unsigned char>(swapped[i]) < 0x80 && static_cast<unsigned char>(swapped[i + 1]) < 0x80;
      if (!letters || swapped[i] == swapped[i + 1]) continue;
      std::swap(swapped[i], swapped[i + 1]);
      consider(swapped);
      std::swap(swapped[i], swapped[i + 1]);
    }
    const std::string nearest = self.database.get_spelling_suggestion(std::string(word), found ? 1 : most_edits);
    if (!nearest.empty()) consider(nearest);
    return found;
  });
}

}  // namespace hedgerow
