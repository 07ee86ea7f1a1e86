#include "index/query.hpp"

#include <xapian.h>

#include <algorithm>
#include <set>

#include "base/utf8.hpp"
#include "index/engine_error.hpp"
#include "index/fields.hpp"
#include "index/plan_of_tree.hpp"
#include "index/query_alternatives.hpp"
#include "index/query_parser.hpp"
#include "index/query_text.hpp"
#include "index/query_transform.hpp"
#include "index/query_tree.hpp"
#include "index/statistics.hpp"
#include "index/text_words.hpp"

namespace hedgerow {

namespace {

void collect_terms(const QueryNode& node, std::set<std::string>& terms) {
  if (node.op == QueryOperator::term) terms.insert(node.term);
  for (const auto& child : node.children) collect_terms(child, terms);
}

// Terms that score by themselves: not of a phrase, not excluded.
void collect_words(const QueryNode& node, std::set<std::string>& terms) {
  switch (node.op) {
    case QueryOperator::term: terms.insert(node.term); break;
    case QueryOperator::and_not: collect_words(node.children.front(), terms); break;
    case QueryOperator::all_of:
    case QueryOperator::any_of:
    case QueryOperator::and_maybe:
      for (const auto& child : node.children) collect_words(child, terms);
      break;
    default: break;
  }
}

std::vector<TypedWord> typed_words(std::string_view typed, const QueryText& text, const QueryNode& tree,
                                   const CollectionStatistics& statistics) {
  std::vector<TypedWord> words;
  if (!is_valid_utf8(typed)) return words;
  std::set<std::string> terms;
  collect_words(tree, terms);
  const Xapian::Stem stem(statistics.stemmer());
  WordReader reader(typed);
  for (TextWord word; reader.next(word); word = {}) {
    const bool apart = std::any_of(text.set_apart.begin(), text.set_apart.end(), [&](const auto& span) {
      return span.first <= word.begin && word.begin < span.second;
    });
    if (apart || word.is_ideograph || word.term.size() > longest_word_bytes || !has_stem(word.term)) continue;
    if (!terms.contains(word.term) && !terms.contains("Z" + stem(word.term))) continue;
    words.push_back({word.term, word.begin, word.end, statistics.document_frequency(word.term)});
  }
  return words;
}

// What no tree of a plan needs to know: where its words were typed.
void forget_positions(QueryNode& node) {
  node.position = 0;
  for (auto& child : node.children) forget_positions(child);
}

}  // namespace

result<QueryPlan> plan_of_tree(QueryNode tree, const CollectionStatistics& statistics) {
  forget_positions(tree);
  QueryPlan plan;
  plan.serialised_query = write_query(tree);
  plan.collection_documents = statistics.documents();
  plan.average_length = statistics.average_length();
  plan.generation = statistics.generation();
  if (plan.serialised_query.empty()) return plan;
  // What leaves will read, and whether they will.
  const auto written = read_query(plan.serialised_query);
  if (!written) return Error{written.error().code, "the query stands for too much: " + written.error().context};
  std::set<std::string> terms;
  collect_terms(*written, terms);
  for (const auto& term : terms) {
    // The statistics hold no names: each counts as that of one document.
    const bool is_name = term.starts_with(fields::name_prefix);
    plan.terms.push_back({term, is_name ? 1 : statistics.document_frequency(term)});
  }
  return plan;
}

result<QueryPlan> plan_query(std::string_view text, const CollectionStatistics& statistics,
                             const PlanSettings& settings) {
  const QueryLimits& limits = settings.limits;
  if (text.size() > limits.longest_query_bytes) {
    return Error{Errc::too_large, "the query is " + std::to_string(text.size()) + " bytes long, at most " +
                                      std::to_string(limits.longest_query_bytes) + " are allowed"};
  }
  return translating_exceptions("query", [&]() -> result<QueryPlan> {
    auto ready = prepare_query_text(text, statistics.facets());
    if (!ready) return ready.error();
    auto parsed = parse_query(*ready, statistics, limits.most_terms);
    if (!parsed) return parsed.error();
    std::vector<TypedWord> words = typed_words(text, *ready, *parsed, statistics);
    add_words_of_compounds(*parsed, text, *ready, statistics);
    add_name(*parsed, text);
    auto tree = transform_query(std::move(*parsed), statistics, settings, ready->notes);
    if (!tree) return tree.error();
    auto plan = plan_of_tree(std::move(*tree), statistics);
    if (!plan) return plan.error();
    plan->notes = std::move(ready->notes);
    plan->words = std::move(words);
    return plan;
  });
}

}  // namespace hedgerow
