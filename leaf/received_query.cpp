#include "leaf/received_query.hpp"

namespace hedgerow::leaf {

result<PreparedQuery> prepare_query(const wire::PlannedQuery& plan, Generation generation) {
  QueryPlan received;
  received.serialised_query = plan.query;
  received.terms.reserve(plan.terms.size());
  for (std::size_t i = 0; i < plan.terms.size(); ++i) {
    received.terms.push_back({plan.terms[i], plan.document_frequencies[i]});
  }
  received.collection_documents = plan.collection_documents;
  received.average_length = plan.average_length;
  received.generation = generation;
  return PreparedQuery::prepare(received);
}

}  // namespace hedgerow::leaf
