// Queries of every shape that people can type, drawn with a seed from given words and pairs of neighbours.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace hedgerow::test {

struct QueryMaterial {
  std::vector<std::string> words;                            // common ones more often
  std::vector<std::pair<std::string, std::string>> neighbours;  // words that stand side by side somewhere
};

class QueryMixture {
 public:
  // Material must not be empty.
  QueryMixture(QueryMaterial material, std::uint64_t seed);
  std::string next();

 private:
  std::string word();
  std::string words(std::uint64_t count);
  std::string phrase();

  const QueryMaterial material_;
  Random random_;
  std::uint64_t shape_ = 0;
};

}  // namespace hedgerow::test
