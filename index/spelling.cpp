#include "index/spelling.hpp"

namespace hedgerow {

struct SpellingDictionary::Implementation {};

SpellingDictionary::SpellingDictionary(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
SpellingDictionary::SpellingDictionary(SpellingDictionary&&) noexcept = default;
SpellingDictionary& SpellingDictionary::operator=(SpellingDictionary&&) noexcept = default;
SpellingDictionary::~SpellingDictionary() = default;

result<SpellingDictionary> SpellingDictionary::open(const std::filesystem::path&, const Manifest&) {
  return Error{Errc::unsupported, "not built yet"};
}

result<std::optional<SpellingDictionary::Suggestion>> SpellingDictionary::suggest(const std::string&) const {
  return Error{Errc::unsupported, "not built yet"};
}

}  // namespace hedgerow
