// Queries as people might ask them of a collection: words that stand together in one of its documents. Pure but for the
// reader; the same seed and documents give the same queries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "corpus/document.hpp"

namespace hedgerow::peers {

// The words of a text that every engine takes for the same word: letters of ASCII alone, at least three of them, in lower
// case. A run of letters beside a digit, an underscore or a character beyond ASCII is none.
std::vector<std::string> plain_words_of(std::string_view text);

// One to four such words, one behind another in the title or in the text, each once. Nothing where the document has none.
std::optional<std::string> query_from(const Document& document, Random& random);

// A sample of so many documents, each as likely as any other, however many there are; and a query from each.
class QuerySample {
 public:
  QuerySample(std::size_t count, std::uint64_t seed);
  void see(const Document& document);
  // In an order by chance.
  std::vector<std::string> queries();

 private:
  std::size_t count_;
  Random random_;
  std::uint64_t seen_ = 0;
  std::vector<std::string> queries_;
};

}  // namespace hedgerow::peers
