// The query that finds what is like a document. Pure, but for the statistics.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "index/document_term.hpp"
#include "index/query.hpp"

namespace hedgerow {

// How many of a document's terms are looked for. A document is about a few words; the more rare ones are added, the more
// a single other document with one of them decides.
inline constexpr std::size_t most_similar_terms = 25;
// How many of a document's terms are weighed, the most frequent ones: all of most documents.
inline constexpr std::size_t most_terms_of_similar = 2000;

// An OR of the document's terms that weigh most by count · idf of the whole collection, each counting as often as the
// document holds it, without the document itself, which is told by its external id. A document whose words stand
// nowhere else gives a query that matches nothing.
// terms: what counted_terms gives, up to most_terms_of_similar of them.
result<QueryPlan> plan_similar(const std::vector<DocumentTerm>& terms, std::string_view id,
                               const CollectionStatistics& statistics);

}  // namespace hedgerow
