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

constexpr std::size_t most_terms_weighed = 2000;

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

// As plan_similar weighs them, but by the partition's own frequencies.
double weight_of(const DocumentTerm& term, const PartitionSearcher::Implementation& partition) {
  const Xapian::doccount with_guards = partition.database.get_termfreq(term.term);
  const double count = term.count;
  return count * inverse_document_frequency(partition.documents, with_guards - guard::count);
}

// The `most` terms of the highest weight, in falling order; ties by bytes.
template <class Weight>
void keep_best(std::vector<DocumentTerm>& terms, std::size_t most, const Weight& weight) {
  std::vector<std::pair<double, DocumentTerm>> weighed;
  weighed.reserve(terms.size());
  for (auto& term : terms) {
    const double heaviness = weight(term);
    weighed.emplace_back(heaviness, std::move(term));
  }
  most = std::min(most, weighed.size());
  std::partial_sort(weighed.begin(), weighed.begin() + static_cast<std::ptrdiff_t>(most), weighed.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second.term < b.second.term;
                    });
  terms.clear();
  for (std::size_t i = 0; i < most; ++i) terms.push_back(std::move(weighed[i].second));
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
      const auto stored = decode_stored_document(self.database.get_document(*posting).get_data());
      if (!stored) return stored.error();
      if (stored->id == id) return std::optional(guard::number_of(*posting));
    }
    return std::optional<DocumentNumber>();
  });
}

result<std::vector<DocumentTerm>> characteristic_terms(const PartitionSearcher& partition, DocumentNumber document,
                                                       std::size_t most) {
  const auto& self = partition.implementation();
  return translating_exceptions(self.name, [&]() -> result<std::vector<DocumentTerm>> {
    const Error missing{Errc::not_found, self.name + ": no document " + std::to_string(document.value)};
    if (document.value == 0 || document.value > self.collection_documents) return missing;
    std::vector<DocumentTerm> terms;
    try {
      terms = subject_terms(self.database, guard::docid_of(document));
    } catch (const Xapian::DocNotFoundError&) {
      return missing;
    }
    // Each frequency is a look into the database.
    keep_best(terms, most_terms_weighed, [](const DocumentTerm& term) { return static_cast<double>(term.count); });
    keep_best(terms, most, [&](const DocumentTerm& term) { return weight_of(term, self); });
    return terms;
  });
}

}  // namespace hedgerow
