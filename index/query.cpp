#include "index/query.hpp"

#include <xapian.h>

#include <set>

#include "index/engine_error.hpp"
#include "index/query_tree.hpp"
#include "index/statistics.hpp"

namespace hedgerow {

namespace {

constexpr unsigned parser_flags =
    Xapian::QueryParser::FLAG_PHRASE | Xapian::QueryParser::FLAG_LOVEHATE | Xapian::QueryParser::FLAG_BOOLEAN;

const Error nothing_to_search_for{
    Errc::invalid_argument,
    "nothing to search for: a query needs a word that is not excluded"};

void collect_terms(const QueryNode& node, std::set<std::string>& terms) {
  if (node.op == QueryOperator::term) terms.insert(node.term);
  for (const auto& child : node.children) collect_terms(child, terms);
}

result<std::string> parse(std::string_view text, const std::string& stemmer) {
  Xapian::QueryParser parser;
  parser.set_stemmer(Xapian::Stem(stemmer));
  parser.set_stemming_strategy(Xapian::QueryParser::STEM_SOME);
  parser.set_default_op(Xapian::Query::OP_OR);
  try {
    const Xapian::Query query = parser.parse_query(std::string(text), parser_flags);
    if (query.empty()) return nothing_to_search_for;
    return query.serialise();
  } catch (const Xapian::QueryParserError& error) {
    return Error{Errc::invalid_argument, "cannot be read as a query: " + error.get_msg()};
  }
}

}  // namespace

result<QueryPlan> plan_query(std::string_view text, const CollectionStatistics& statistics, const QueryLimits& limits) {
  if (text.size() > limits.longest_query_bytes) {
    return Error{Errc::too_large, "the query is " + std::to_string(text.size()) + " bytes long, at most " +
                                      std::to_string(limits.longest_query_bytes) + " are allowed"};
  }
  return translating_exceptions("query", [&]() -> result<QueryPlan> {
    auto serialised = parse(text, statistics.stemmer());
    if (!serialised) return serialised.error();

    const auto tree = read_query(*serialised, {.most_terms = limits.most_terms});
    if (!tree) {
      // What the parser understands and we do not offer is the asker's to mend, like any other query.
      const bool too_large = tree.error().code == Errc::too_large;
      return Error{too_large ? Errc::too_large : Errc::invalid_argument, tree.error().context};
    }

    QueryPlan plan;
    plan.serialised_query = std::move(*serialised);
    plan.collection_documents = statistics.documents();
    plan.average_length = statistics.average_length();
    plan.generation = statistics.generation();
    std::set<std::string> terms;
    collect_terms(*tree, terms);
    for (const auto& term : terms) plan.terms.push_back({term, statistics.document_frequency(term)});
    return plan;
  });
}

}  // namespace hedgerow
