// What a leaf may say about a partition: a leaf that says anything else is broken or hostile, and none of its numbers
// may reach an answer. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "wire/messages.hpp"

namespace hedgerow::root {

struct AnswerBounds {
  std::uint32_t most_hits = 0;             // as asked for
  std::uint32_t titles = 0;                // likewise
  std::uint32_t partition_documents = 0;   // by the manifest
  std::uint64_t collection_documents = 0;  // document numbers go from 1 to this
};

// Errors: protocol, for more hits than asked for or than the partition has documents, more titles than asked for or than hits, a document number that the
// collection does not have, a score that is no number, is infinite or below 0, hits that are not in ranks_before order
// (so no document comes twice), and a number of matches that does not fit.
result<void> check_answer(const wire::PartitionAnswer& answer, const AnswerBounds& bounds);

// The same for the optional subsystems and for documents by id. Errors: protocol.

// Snippets that are not as many as asked, longer than any snippet, or with any mark-up but entities and <b> and </b> in
// turn: they stand in pages as they are.
result<void> check_answer(const wire::SnippetAnswer& answer, std::size_t asked);

// Other facets than asked, values that are too many or not in rising order, counts of none or of more documents than the
// partition has.
struct FacetBounds {
  std::size_t facets = 0;
  std::uint32_t most_values = 0;
  std::uint32_t partition_documents = 0;
};
result<void> check_answer(const wire::FacetAnswer& answer, const FacetBounds& bounds);

// Suggestions that are not as many as words, too long, or no words.
result<void> check_answer(const wire::SpellAnswer& answer, std::size_t asked, std::uint64_t collection_documents);

// A document that the collection does not have, or another one than asked for.
struct LookupBounds {
  std::string_view id;
  std::uint32_t most_terms = 0;
  std::uint64_t collection_documents = 0;
};
result<void> check_answer(const wire::LookupAnswer& answer, const LookupBounds& bounds);

}  // namespace hedgerow::root
