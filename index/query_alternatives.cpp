#include "index/query_alternatives.hpp"

#include <xapian.h>

#include <algorithm>
#include <set>

#include "base/utf8.hpp"
#include "index/fields.hpp"
#include "index/statistics.hpp"
#include "index/text_words.hpp"

namespace hedgerow {

namespace {

using Compound = std::vector<std::string>;

// What the parser makes a phrase of when it stands between two words and nothing else does.
bool joins(std::string_view between) {
  return !between.empty() && between.find_first_not_of(".-/:\\@") == std::string_view::npos;
}

// The runs of joined words outside of quotes and facets.
std::set<Compound> compounds_in(std::string_view typed, const QueryText& text) {
  std::set<Compound> compounds;
  Compound run;
  std::size_t run_end = 0;
  bool marked = false;  // the run is +must or -not
  const auto close = [&] {
    if (run.size() > 1 && !marked) compounds.insert(run);
    run.clear();
  };
  WordReader reader(typed);
  for (TextWord word; reader.next(word); word = {}) {
    const bool apart = std::any_of(text.set_apart.begin(), text.set_apart.end(), [&](const auto& span) {
      return span.first <= word.begin && word.begin < span.second;
    });
    if (run.empty() || apart || !joins(typed.substr(run_end, word.begin - run_end))) close();
    if (apart) continue;
    if (run.empty()) marked = word.begin > 0 && (typed[word.begin - 1] == '+' || typed[word.begin - 1] == '-');
    run.push_back(word.term);
    run_end = word.end;
  }
  close();
  return compounds;
}

Compound words_of(const QueryNode& phrase) {
  Compound words;
  for (const auto& child : phrase.children) words.push_back(child.term);
  return words;
}

// A root of one word or phrase as an OR of it alone, so that others can join; null where no OR decides.
QueryNode* or_at(QueryNode& root) {
  if (root.op == QueryOperator::any_of) return &root;
  if (root.op != QueryOperator::term && root.op != QueryOperator::phrase) return nullptr;
  QueryNode any_of;
  any_of.op = QueryOperator::any_of;
  any_of.children.push_back(std::move(root));
  root = std::move(any_of);
  return &root;
}

}  // namespace

void add_words_of_compounds(QueryNode& root, std::string_view typed, const QueryText& text,
                            const CollectionStatistics& statistics) {
  if (root.op != QueryOperator::phrase && root.op != QueryOperator::any_of) return;
  if (!is_valid_utf8(typed)) return;
  const std::set<Compound> compounds = compounds_in(typed, text);
  if (compounds.empty()) return;

  const Xapian::Stem stem(statistics.stemmer());
  const auto words_to_add = [&](const QueryNode& node) {
    std::vector<QueryNode> words;
    if (node.op != QueryOperator::phrase || !compounds.contains(words_of(node))) return words;
    for (const auto& child : node.children) {
      QueryNode word = child;
      word.query_frequency = 1;
      if (has_stem(word.term)) word.term = "Z" + stem(word.term);
      words.push_back(std::move(word));
    }
    return words;
  };

  std::vector<QueryNode> children;
  if (root.op == QueryOperator::phrase) {
    std::vector<QueryNode> words = words_to_add(root);
    if (words.empty()) return;
    QueryNode& any_of = *or_at(root);
    for (auto& word : words) any_of.children.push_back(std::move(word));
    return;
  }
  for (auto& child : root.children) {
    std::vector<QueryNode> words = words_to_add(child);
    children.push_back(std::move(child));
    for (auto& word : words) children.push_back(std::move(word));
  }
  root.children = std::move(children);
}

void add_name(QueryNode& root, std::string_view typed) {
  const auto name = fields::name_term(typed);
  if (!name) return;
  QueryNode* any_of = or_at(root);
  if (any_of == nullptr) return;
  QueryNode node;
  node.term = *name;
  node.query_frequency = name_frequency;
  any_of->children.push_back(std::move(node));
}

}  // namespace hedgerow
