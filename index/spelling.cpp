#include "index/spelling.hpp"

#include <xapian.h>

#include "index/database_label.hpp"
#include "index/engine_error.hpp"

namespace hedgerow {

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

result<std::optional<SpellingDictionary::Suggestion>> SpellingDictionary::suggest(const std::string& word) const {
  const auto& self = *implementation_;
  return translating_exceptions(self.name, [&]() -> result<std::optional<Suggestion>> {
    std::optional<Suggestion> found;
    const std::string suggestion = self.database.get_spelling_suggestion(word);
    if (suggestion.empty()) return found;
    // get_spelling_frequency is protected; the list of words tells it.
    auto entry = self.database.spellings_begin();
    entry.skip_to(suggestion);
    found = Suggestion{suggestion, entry.get_termfreq()};
    return found;
  });
}

}  // namespace hedgerow
