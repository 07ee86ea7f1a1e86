// "Did you mean": which words of a query are asked of the spelling service, and what its answer makes of the query. Pure.
//
// Asked are words that the collection does not have, or hardly: what is common is hardly a slip. Shown is only what is
// much more frequent than what was typed, so that a rare word that is meant is left in peace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/query.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

struct SuggestionSettings {
  std::uint32_t rare = 1000;  // asked: in fewer than one of so many documents
  std::uint32_t times = 20;   // shown: so many times as frequent as what was typed
  std::uint32_t least = 2;    // and in at least so many documents
  std::size_t shortest = 3;   // bytes; shorter words are near to everything
  std::size_t longest = 64;
  std::size_t most_words = 16;  // of one query
};

// In the order of the text, each once. Words with digits are names of things, and not asked.
std::vector<std::string> words_to_ask(const QueryPlan& plan, const SuggestionSettings& settings = {});

// The text with every word replaced for which the answer, to these words asked, has something better; nullopt where it
// has nothing.
std::optional<std::string> suggested_text(std::string_view text, const QueryPlan& plan,
                                          const std::vector<std::string>& asked, const wire::SpellAnswer& answer,
                                          const SuggestionSettings& settings = {});

}  // namespace hedgerow::root
