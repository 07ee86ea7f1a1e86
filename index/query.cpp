#include "index/query.hpp"

#include <xapian.h>

#include <algorithm>
#include <cctype>
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
    "nothing to search for: a query needs a word that is not excluded, beside those that are"};

void collect_terms(const QueryNode& node, std::set<std::string>& terms) {
  if (node.op == QueryOperator::term) terms.insert(node.term);
  for (const auto& child : node.children) collect_terms(child, terms);
}

// Whether the text excludes something by "-word", "-\"phrase\"" or "-(…)", outside of quotes.
bool has_exclusion_mark(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted || text[i] != '-') continue;
    const bool starts_word = i == 0 || std::string_view(" \t\r\n(").find(text[i - 1]) != std::string_view::npos;
    const auto next = static_cast<unsigned char>(text[i + 1]);
    if (starts_word && (next >= 0x80 || std::isalnum(next) != 0 || next == '"' || next == '(')) return true;
  }
  return false;
}

bool excludes_something(const QueryNode& node) {
  return node.op == QueryOperator::and_not ||
         std::any_of(node.children.begin(), node.children.end(), excludes_something);
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

    // Where nothing stands beside an excluded word, the parser drops the mark and looks for the word. Better say so.
    if (has_exclusion_mark(text) && !excludes_something(*tree)) return nothing_to_search_for;

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
