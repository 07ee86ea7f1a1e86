// What every answer is compared with: the same documents in one Xapian database without guards, built by code of its
// own, and searched by Xapian directly.
//
// Two references, because Xapian 1.4.22 is not always right about its own query language: for
// +must "a phrase" "another phrase" word, even get_mset(0, k, doccount) may miss or invent documents.
//  - by_engine: get_mset(0, everything, doccount) on the query as it is;
//  - by_algebra: single words and single phrases are matched by Xapian one by one, ranges by looking at every value,
//    and both are put together by the meaning of AND, OR, NOT, MAYBE and filters as sets with sums of scores.
//
// Owned by one thread.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "corpus/reader.hpp"
#include "reference_language.hpp"

namespace hedgerow::test {

// How documents are indexed and scored: what the manifest of the index that is compared says.
struct ReferenceSettings {
  LanguageSettings language;
  std::uint32_t title_weight = 1;
  double k1 = 1;
  double k3 = 1;
  double b = 0.5;
  double min_normalised_length = 0.5;
};

struct ReferenceHit {
  Xapian::docid document = 0;  // the sequence number in the collection
  double score = 0;
};

// Score descending as float, then document ascending.
using ReferenceRanking = std::vector<ReferenceHit>;

class Reference {
 public:
  // Reads to the end; documents that are errors are passed over.
  static void build(Reader& reader, const std::filesystem::path& directory, const ReferenceSettings& settings);

  Reference(const std::filesystem::path& directory, const ReferenceSettings& settings);

  Meaning parse(const std::string& query) const { return language_.read(query); }
  // What is like a document: an OR of its 25 terms that weigh most, as docs/queries.md says, without itself.
  Meaning similar_to(Xapian::docid document) const;
  ReferenceRanking by_engine(const Meaning& meaning) const;
  ReferenceRanking by_algebra(const Meaning& meaning) const;

  std::string id_of(Xapian::docid document) const;
  const Xapian::Database& database() const { return database_; }
  const ReferenceLanguage& language() const { return language_; }

 private:
  // By document.
  using Scores = std::vector<std::pair<Xapian::docid, double>>;
  Scores scores_of(const Meaning& meaning) const;
  std::shared_ptr<const Scores> scores_of_words(const Xapian::Query& query) const;
  Scores scores_of_range(const Meaning& range) const;
  ReferenceRanking match(const Xapian::Query& query) const;

  ReferenceSettings settings_;
  Xapian::Database database_;
  ReferenceLanguage language_;
  // What was matched before, up to a bound.
  mutable std::unordered_map<std::string, std::shared_ptr<const Scores>> matched_;
  mutable std::size_t matched_entries_ = 0;
};

}  // namespace hedgerow::test
