#include "root/answer_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "index/ranking.hpp"

namespace hedgerow::root {

result<void> check_answer(const wire::PartitionAnswer& answer, const AnswerBounds& bounds) {
  const auto wrong = [&](const std::string& what) {
    return Error{Errc::protocol, "an answer for partition " + std::to_string(answer.partition.value) + " with " + what};
  };
  const std::size_t hits = answer.documents.size();
  if (hits != answer.scores.size()) return wrong("documents and scores that differ in number");
  if (hits > bounds.most_hits) return wrong("more hits than were asked for");
  if (hits > bounds.partition_documents) return wrong("more hits than the partition has documents");
  if (answer.shown.size() > std::min<std::size_t>(bounds.titles, hits)) return wrong("more titles than were asked for");
  // Where it is an estimate, it may well be below the hits that are told.
  if (answer.matches > bounds.partition_documents || (answer.matches_exact && answer.matches < hits)) {
    return wrong("an impossible number of matches");
  }
  for (std::size_t i = 0; i < hits; ++i) {
    if (answer.documents[i] == 0 || answer.documents[i] > bounds.collection_documents) {
      return wrong("a document that the collection does not have");
    }
    if (!std::isfinite(answer.scores[i]) || answer.scores[i] < 0) return wrong("a score that is none");
    if (i == 0) continue;
    const ScoredDocument before{DocumentNumber{answer.documents[i - 1]}, answer.scores[i - 1]};
    const ScoredDocument here{DocumentNumber{answer.documents[i]}, answer.scores[i]};
    if (!ranks_before(before, here)) return wrong("hits that are out of order");
  }
  return {};
}

namespace {

// A snippet shows some hundred bytes; marks and entities make more of them.
constexpr std::size_t longest_snippet = 16'384;
constexpr std::size_t longest_suggestion = 256;
constexpr std::size_t longest_facet_value = 4096;

Error broken(const std::string& what) { return {Errc::protocol, what}; }

// Of a word there is none of these. (Whatever is no UTF-8 becomes a replacement character where JSON is written.)
bool has_space_or_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
}

// The length of the entity that the text begins with: &lt; &gt; &amp; &quot; &apos; &#39; &#x27;. 0: it is none.
std::size_t entity_length(std::string_view text) {
  for (const std::string_view entity : {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;", "&#39;", "&#x27;", "&#34;"}) {
    if (text.starts_with(entity)) return entity.size();
  }
  return 0;
}

bool is_safe_snippet(std::string_view html) {
  bool open = false;
  for (std::size_t i = 0; i < html.size();) {
    const auto rest = html.substr(i);
    if (html[i] == '<') {
      const std::string_view mark = open ? "</b>" : "<b>";
      if (!rest.starts_with(mark)) return false;
      open = !open;
      i += mark.size();
    } else if (html[i] == '&') {
      const std::size_t length = entity_length(rest);
      if (length == 0) return false;
      i += length;
    } else if (html[i] == '>') {
      return false;
    } else {
      ++i;
    }
  }
  return !open;
}

}  // namespace

result<void> check_answer(const wire::SnippetAnswer& answer, std::size_t asked) {
  if (answer.snippets.size() != asked) return broken("snippets that are not as many as were asked for");
  for (const auto& snippet : answer.snippets) {
    if (snippet.size() > longest_snippet) return broken("a snippet that is too long");
    if (!is_safe_snippet(snippet)) return broken("a snippet that is not safe as HTML");
  }
  return {};
}

result<void> check_answer(const wire::FacetAnswer& answer, const FacetBounds& bounds) {
  const auto wrong = [&](const std::string& what) {
    return broken("facets of partition " + std::to_string(answer.partition.value) + " with " + what);
  };
  if (answer.facets.size() != bounds.facets) return wrong("others than were asked for");
  for (const auto& facet : answer.facets) {
    if (facet.values.size() != facet.counts.size()) return wrong("values and counts that differ in number");
    if (facet.values.size() > bounds.most_values) return wrong("more values than were asked for");
    for (std::size_t i = 0; i < facet.values.size(); ++i) {
      if (facet.values[i].size() > longest_facet_value) return wrong("a value that is too long");
      if (i > 0 && facet.values[i - 1] >= facet.values[i]) return wrong("values that are out of order");
      if (facet.counts[i] == 0 || facet.counts[i] > bounds.partition_documents) return wrong("an impossible count");
    }
  }
  return {};
}

result<void> check_answer(const wire::SpellAnswer& answer, std::size_t asked, std::uint64_t collection_documents) {
  if (answer.suggestions.size() != asked || answer.document_frequencies.size() != asked) {
    return broken("suggestions that are not as many as the words");
  }
  for (std::size_t i = 0; i < asked; ++i) {
    const auto& word = answer.suggestions[i];
    if (word.size() > longest_suggestion) return broken("a suggestion that is too long");
    if (has_space_or_control(word)) return broken("a suggestion that is no word");
    if (answer.document_frequencies[i] > collection_documents) return broken("a suggestion in more documents than there are");
  }
  return {};
}

result<void> check_answer(const wire::LookupAnswer& answer, const LookupBounds& bounds) {
  if (!answer.found) return {};
  if (answer.document.value == 0 || answer.document.value > bounds.collection_documents) {
    return broken("a document that the collection does not have");
  }
  if (bounds.most_terms == 0) {
    if (answer.shown.id != bounds.id) return broken("another document than the one asked for");
    return {};
  }
  if (answer.terms.size() != answer.counts.size()) return broken("terms and counts that differ in number");
  if (answer.terms.size() > bounds.most_terms) return broken("more terms than were asked for");
  return {};
}

}  // namespace hedgerow::root
