#include "index/prepared_query.hpp"

#include <cmath>

#include "index/guard.hpp"
#include "index/scoring.hpp"

namespace hedgerow {

namespace {

bool has_optional_parts(const QueryNode& node) {
  if (node.op == QueryOperator::any_of || node.op == QueryOperator::and_maybe) return true;
  for (const auto& child : node.children) {
    if (has_optional_parts(child)) return true;
  }
  return false;
}

// Every term of the tree needs its document frequency, or scores would be local without anybody noticing.
bool all_terms_planned(const QueryNode& node, const std::unordered_map<std::string, std::uint32_t>& planned) {
  if (node.op == QueryOperator::term && !planned.contains(node.term)) return false;
  for (const auto& child : node.children) {
    if (!all_terms_planned(child, planned)) return false;
  }
  return true;
}

// Of the whole collection.
double postings_of(const QueryNode& node, const std::unordered_map<std::string, std::uint32_t>& planned, double documents) {
  constexpr double with_positions = 10;
  if (node.op == QueryOperator::range) return documents;
  if (node.op == QueryOperator::term) {
    const auto found = planned.find(node.term);
    return found == planned.end() ? 0 : found->second;
  }
  double sum = 0;
  for (const QueryNode& child : node.children) sum += postings_of(child, planned, documents);
  return node.op == QueryOperator::phrase || node.op == QueryOperator::near ? with_positions * sum : sum;
}

}  // namespace

PreparedQuery::PreparedQuery(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}
PreparedQuery::PreparedQuery(const PreparedQuery&) = default;
PreparedQuery::PreparedQuery(PreparedQuery&&) noexcept = default;
PreparedQuery& PreparedQuery::operator=(PreparedQuery&&) noexcept = default;
PreparedQuery::~PreparedQuery() = default;

result<PreparedQuery> PreparedQuery::prepare(const QueryPlan& plan) {
  // An OR of nothing stands for the query that matches nothing.
  result<QueryNode> tree = QueryNode{.op = QueryOperator::any_of, .term = {}, .children = {}};
  if (!plan.serialised_query.empty()) tree = read_query(plan.serialised_query);
  if (!tree) {
    const bool too_large = tree.error().code == Errc::too_large;
    return Error{too_large ? Errc::too_large : Errc::protocol, tree.error().context};
  }
  if (plan.terms.size() > QueryBounds{}.most_terms) return Error{Errc::too_large, "query plan: too many terms"};
  if (!std::isfinite(plan.average_length) || plan.average_length < 0 ||
      plan.collection_documents > guard::most_documents) {
    return Error{Errc::protocol, "query plan: impossible collection statistics"};
  }

  std::unordered_map<std::string, std::uint32_t> planned;
  auto implementation = std::make_shared<Implementation>();
  for (const auto& [term, document_frequency] : plan.terms) {
    if (document_frequency > plan.collection_documents) {
      return Error{Errc::protocol, "query plan: a term in more documents than there are"};
    }
    planned.emplace(term, document_frequency);
    if (document_frequency > 0) {
      implementation->inverse_document_frequencies.emplace(
          term, inverse_document_frequency(plan.collection_documents, document_frequency));
    }
  }
  if (!all_terms_planned(*tree, planned)) {
    return Error{Errc::protocol, "query plan: a term without its document frequency"};
  }
  implementation->prunes = has_optional_parts(*tree);
  implementation->postings = postings_of(*tree, planned, static_cast<double>(plan.collection_documents));
  implementation->root = std::move(*tree);
  implementation->average_length = plan.average_length;
  implementation->generation = plan.generation;
  return PreparedQuery(std::move(implementation));
}

double PreparedQuery::postings(double share) const { return implementation_->postings * share; }

}  // namespace hedgerow
