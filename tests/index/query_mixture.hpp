// Queries of every shape that people can type, drawn with a seed from given words, pairs of neighbours and facet values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace hedgerow::test {

struct FacetValue {
  std::string name;
  std::string value;
};

// Words and values are drawn evenly: what should come more often stands here more than once. All but the first two may
// be empty: the shapes that need them are left out then.
struct QueryMaterial {
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  std::vector<std::string> words;
  Pairs neighbours;  // words that stand side by side somewhere
  std::vector<std::string> title_words;
  Pairs title_neighbours;
  std::vector<std::string> frequent_words;  // in a good part of all documents
  std::vector<FacetValue> facet_values;     // of all facets
  std::vector<FacetValue> numbers;          // of facets that take ranges
  std::vector<FacetValue> dates;            // the same; "2024-02-29"
  std::vector<std::string> ideographs;      // short runs of Chinese, Japanese or Korean
  std::vector<std::string> names;           // ids and whole titles
  std::vector<std::string> synonym_words;   // words, and several side by side, that have synonyms
};

class QueryMixture {
 public:
  // words and neighbours must not be empty.
  QueryMixture(QueryMaterial material, std::uint64_t seed);
  std::string next();

  // After so many queries every shape has come once.
  std::size_t shapes() const { return shapes_.size(); }

 private:
  using Shape = std::string (QueryMixture::*)();

  // Each gives another of its shapes from call to call.
  std::string plain();
  std::string titled();
  std::string filtered();
  std::string ranged();
  std::string expanded();
  std::string frequent();
  std::string written_otherwise();
  std::string ideographic();
  std::string joined();
  std::string synonymous();

  std::string word();
  std::string words(std::uint64_t count);
  std::string phrase();
  std::string title_word();
  std::string title_phrase();
  std::string frequent_word();
  std::string filter();
  std::string filter_of(const FacetValue& value);
  std::string range();
  std::string prefix();
  std::string capitalised(std::string text);

  const QueryMaterial material_;
  Random random_;
  std::vector<Shape> shapes_;
  std::uint64_t shape_ = 0;
  std::uint64_t plain_ = 0;
  std::uint64_t titled_ = 0;
  std::uint64_t filtered_ = 0;
  std::uint64_t ranged_ = 0;
  std::uint64_t expanded_ = 0;
  std::uint64_t frequent_ = 0;
  std::uint64_t written_otherwise_ = 0;
  std::uint64_t ideographic_ = 0;
  std::uint64_t joined_ = 0;
  std::uint64_t synonymous_ = 0;
};

}  // namespace hedgerow::test
