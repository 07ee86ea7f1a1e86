// What every answer is compared with: the same documents in one Xapian database without guards, built by code of its
// own, and searched by Xapian directly.
//
// Two references, because Xapian 1.4.22 is not always right about its own query language: for
// +must "a phrase" "another phrase" word, even get_mset(0, k, doccount) may miss or invent documents.
//  - by_engine: get_mset(0, everything, doccount) on the query as it is;
//  - by_algebra: single words and single phrases are matched by Xapian one by one, and put together by the meaning of
//    AND, OR, NOT and MAYBE as sets with sums of scores.
#pragma once

#include <xapian.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "corpus/document.hpp"
#include "corpus/reader.hpp"

namespace hedgerow::test {

struct ReferenceHit {
  Xapian::docid document = 0;  // the sequence number in the collection
  double score = 0;
};

// Score descending as float, then document ascending.
using ReferenceRanking = std::vector<ReferenceHit>;

class Reference {
 public:
  // Reads to the end; documents that are errors are passed over.
  static void build(Reader& reader, const std::filesystem::path& directory);

  explicit Reference(const std::filesystem::path& directory);

  Xapian::Query parse(const std::string& query) const;
  ReferenceRanking by_engine(const Xapian::Query& query) const;
  ReferenceRanking by_algebra(const Xapian::Query& query) const;

  std::string id_of(Xapian::docid document) const;
  const Xapian::Database& database() const { return database_; }

 private:
  using Scores = std::unordered_map<Xapian::docid, double>;
  Scores scores_of(const Xapian::Query& query) const;
  ReferenceRanking match(const Xapian::Query& query) const;

  Xapian::Database database_;
};

}  // namespace hedgerow::test
