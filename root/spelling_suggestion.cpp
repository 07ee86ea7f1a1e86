#include "root/spelling_suggestion.hpp"

#include <algorithm>
#include <map>

namespace hedgerow::root {

namespace {

// Digits and the signs of "at&t", "c++" and "c#": names, not words.
bool is_name(std::string_view word) { return word.find_first_of("0123456789&+#") != std::string_view::npos; }

}  // namespace

std::vector<std::string> words_to_ask(const QueryPlan& plan, const SuggestionSettings& settings) {
  std::vector<std::string> words;
  for (const auto& typed : plan.words) {
    const bool rare = std::uint64_t{typed.document_frequency} * settings.rare < plan.collection_documents;
    const bool askable = typed.word.size() >= settings.shortest && typed.word.size() <= settings.longest && !is_name(typed.word);
    const bool again = std::find(words.begin(), words.end(), typed.word) != words.end();
    if ((typed.document_frequency == 0 || rare) && askable && !again) words.push_back(typed.word);
    if (words.size() == settings.most_words) break;
  }
  return words;
}

std::optional<std::string> suggested_text(std::string_view text, const QueryPlan& plan,
                                          const std::vector<std::string>& asked, const wire::SpellAnswer& answer,
                                          const SuggestionSettings& settings) {
  struct Better {
    std::string_view word;
    std::uint64_t document_frequency;
  };
  std::map<std::string_view, Better> better;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (!answer.suggestions[i].empty()) better[asked[i]] = {answer.suggestions[i], answer.document_frequencies[i]};
  }
  std::string out;
  std::size_t copied = 0;
  bool changed = false;
  for (const auto& typed : plan.words) {
    const auto found = better.find(typed.word);
    if (found == better.end() || typed.begin < copied || typed.end < typed.begin || typed.end > text.size()) continue;
    const auto frequency = found->second.document_frequency;
    const auto wanted = std::max<std::uint64_t>(settings.least, std::uint64_t{settings.times} * typed.document_frequency);
    if (frequency < wanted || found->second.word == typed.word) continue;
    out += text.substr(copied, typed.begin - copied);
    out += found->second.word;
    copied = typed.end;
    changed = true;
  }
  if (!changed) return std::nullopt;
  out += text.substr(copied);
  return out;
}

}  // namespace hedgerow::root
