#include "index/similar_query.hpp"

#include <algorithm>

#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/plan_of_tree.hpp"
#include "index/scoring.hpp"
#include "index/statistics.hpp"

namespace hedgerow {

result<QueryPlan> plan_similar(const std::vector<DocumentTerm>& terms, std::string_view id,
                               const CollectionStatistics& statistics) {
  struct Weighed {
    const DocumentTerm* term;
    double weight;
  };
  return translating_exceptions("similar documents", [&]() -> result<QueryPlan> {
    std::vector<Weighed> weighed;
    for (const auto& term : terms) {
      const std::uint64_t frequency = statistics.document_frequency(term.term);
      // Alone with it is the document itself.
      if (frequency < 2 || term.count == 0 || frequency > statistics.documents()) continue;
      weighed.push_back({&term, term.count * inverse_document_frequency(statistics.documents(), frequency)});
    }
    std::sort(weighed.begin(), weighed.end(), [](const Weighed& a, const Weighed& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.term->term < b.term->term;
    });
    if (weighed.size() > most_similar_terms) weighed.resize(most_similar_terms);

    QueryNode words;
    words.op = QueryOperator::any_of;
    for (const auto& [term, weight] : weighed) {
      QueryNode word;
      word.term = term->term;
      word.query_frequency = term->count;
      words.children.push_back(std::move(word));
    }
    QueryNode itself;
    itself.term = fields::id_term(id);
    QueryNode others;
    others.op = QueryOperator::and_not;
    others.children.push_back(std::move(words));
    others.children.push_back(std::move(itself));
    return plan_of_tree(std::move(others), statistics);
  });
}

}  // namespace hedgerow
