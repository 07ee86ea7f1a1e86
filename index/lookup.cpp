#include "index/lookup.hpp"

#include <xapian.h>

#include <algorithm>

#include "base/random.hpp"
#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/guard.hpp"
#include "index/open_partition.hpp"
#include "index/scoring.hpp"

namespace hedgerow {

namespace {

bool is_plain_word(std::string_view term) { return !term.empty() && !(term.front() >= 'A' && term.front() <= 'Z'); }
bool is_stem(std::string_view term) { return term.size() > 1 && term.front() == 'Z' && is_plain_word(term.substr(1)); }

// The stems, or the words where there are no stems.
std::vector<DocumentTerm> subject_terms(const Xapian::Database& database, Xapian::docid document) {
  std::vector<DocumentTerm> stems;
  std::vector<DocumentTerm> words;
  const auto end = database.termlist_end(document);
  for (auto at = database.termlist_begin(document); at != end; ++at) {
    DocumentTerm term{*at, at.get_wdf()};
    if (is_stem(term.term)) {
      stems.push_back(std::move(term));
    } else if (is_plain_word(term.term)) {
      words.push_back(std::move(term));
    }
  }
  return stems.empty() ? words : stems;
}

}  // namespace

PartitionId partition_of(std::string_view id, std::uint32_t partitions) {
  return PartitionId{static_cast<std::uint32_t>(stable_hash(id) % partitions)};
}

result<std::optional<DocumentNumber>> find_document(const PartitionSearcher& partition, std::string_view id) {
  const auto& self = partition.implementation();
  return translating_exceptions(self.name, [&]() -> result<std::optional<DocumentNumber>> {
    const std::string term = fields::id_term(id);
    const auto end = self.database.postlist_end(term);
    for (auto posting = self.database.postlist_begin(term); posting != end; ++posting) {
      if (!guard::is_document(*posting, self.collection_documents)) continue;
      // An id may look like the hash of another one.
      const auto shown = decode_shown_document(self.database.get_document(*posting).get_value(fields::shown_slot));
      if (!shown) return shown.error();
      if (shown->id == id) return std::optional(guard::number_of(*posting));
    }
    return std::optional<DocumentNumber>();
  });
}

result<std::vector<DocumentTerm>> counted_terms(const PartitionSearcher& partition, DocumentNumber document,
                                                std::size_t most) {
  const auto& self = partition.implementation();
  return translating_exceptions(self.name, [&]() -> result<std::vector<DocumentTerm>> {
    if (!self.may_hold(document)) return self.missing(document);
    try {
      auto terms = subject_terms(self.database, guard::docid_of(document));
      // They come in the order of their bytes, and equally frequent ones stay so.
      std::stable_sort(terms.begin(), terms.end(),
                       [](const DocumentTerm& a, const DocumentTerm& b) { return a.count > b.count; });
      if (terms.size() > most) terms.resize(most);
      return terms;
    } catch (const Xapian::DocNotFoundError&) {
      return self.missing(document);
    }
  });
}

}  // namespace hedgerow
