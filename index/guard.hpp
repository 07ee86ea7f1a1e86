// The documents that no reader wrote: two guards in every partition, and the docids around them.
//
// Xapian 1.4.22 loses true top documents while it prunes (AndMaybePostList::next: an AND_MAYBE that turns into an
// AND skips the document its right side stands on, when that side is ahead). It does so when the score to beat rises
// beyond what was possible at the document just looked at; that happens when a posting list ends, and when the score to
// beat comes into force for the first time. So:
//
// - the guard document, the last of each partition, holds every term of it: no posting list ends before it;
// - the front guard, the first of each partition, holds every term as well: all lists stand on it together at the moment
//   at which the score to beat comes into force (see PartitionSearcher, which fills the engine's heap before it).
//
// Both hold each term with wdf 0, so they score 0 and leave lengths, averages and bounds alone, and they alone hold the
// marker term. Xapian docids in a partition:
//
//   [1, front)            no documents; the searcher's own placeholders
//   front                 the front guard
//   front + number        a document, by its sequence number in the collection, from 1
//   front + N + 1         the guard document, where N is the number of documents of the whole collection
#pragma once

#include <xapian.h>

#include <cstdint>

#include "base/ids.hpp"

namespace hedgerow::guard {

inline constexpr Xapian::docid front = 1u << 24;
// How many guards a partition holds: what Xapian's counts and document frequencies are lowered by.
inline constexpr Xapian::doccount count = 2;
// Words are indexed in lower case, and stems under "Z": no text gives this term.
inline constexpr const char* marker_term = "XGUARD";

// The largest collection whose docids fit.
inline constexpr std::uint64_t most_documents = 0xffffffffu - front - 1;

constexpr Xapian::docid docid_of(DocumentNumber number) { return front + number.value; }
constexpr DocumentNumber number_of(Xapian::docid docid) { return DocumentNumber{docid - front}; }
constexpr Xapian::docid back(std::uint64_t collection_documents) {
  return front + static_cast<Xapian::docid>(collection_documents) + 1;
}
constexpr bool is_document(Xapian::docid docid, std::uint64_t collection_documents) {
  return docid > front && docid < back(collection_documents);
}

}  // namespace hedgerow::guard
