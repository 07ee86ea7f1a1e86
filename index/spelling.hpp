// The spelling dictionary: every word of the collection, with the number of documents it stands in, and which of them a
// mistyped word may have meant. An optional subsystem: nothing in an answer depends on it.
//
// A file of its own in the index (Manifest::spelling_file). Owned by one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "index/manifest.hpp"

namespace hedgerow {

class SpellingDictionary {
 public:
  struct Suggestion {
    std::string word;
    std::uint32_t document_frequency = 0;
  };

  // Errors: not_found, corrupt, io.
  static result<SpellingDictionary> open(const std::filesystem::path& directory, const Manifest& manifest);
  SpellingDictionary(SpellingDictionary&&) noexcept;
  SpellingDictionary& operator=(SpellingDictionary&&) noexcept;
  ~SpellingDictionary();

  // The word of the collection that is nearest to this one (in lower case), other than itself; of equally near ones the
  // most frequent. Nothing where none is near (at most two edits). Errors: corrupt, io.
  result<std::optional<Suggestion>> suggest(const std::string& word) const;

 private:
  struct Implementation;
  explicit SpellingDictionary(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace hedgerow
