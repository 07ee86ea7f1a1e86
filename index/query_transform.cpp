#include "index/query_transform.hpp"

#include <xapian.h>

#include <algorithm>
#include <optional>

#include "index/fields.hpp"
#include "index/statistics.hpp"
#include "index/synonyms.hpp"
#include "index/text_words.hpp"

namespace hedgerow {

namespace {

// What a part of the query is there for.
enum class Role {
  required,  // whatever is found matches it: words may become optional here
  scored,    // it adds to the score
  silent,    // excluded, or a filter
};

std::size_t count_prefixes(const QueryNode& node) {
  std::size_t count = node.op == QueryOperator::prefix ? 1 : 0;
  for (const auto& child : node.children) count += count_prefixes(child);
  return count;
}

std::size_t count_terms(const QueryNode& node) {
  std::size_t count = node.children.empty() ? 1 : 0;
  for (const auto& child : node.children) count += count_terms(child);
  return count;
}

QueryNode branch(QueryOperator op, std::vector<QueryNode> children) {
  QueryNode node;
  node.op = op;
  node.children = std::move(children);
  return node;
}

// A term, taken apart into the prefix of its field and the rest: "ZSedit" is of the field "S", and the rest "Zedit".
struct FieldTerm {
  std::string field;
  std::string rest;

  explicit FieldTerm(const std::string& term) {
    const bool is_stem = term.starts_with('Z');
    const std::size_t at = is_stem ? 1 : 0;
    if (term.compare(at, fields::title_prefix.size(), fields::title_prefix) == 0) field = fields::title_prefix;
    rest = (is_stem ? "Z" : "") + term.substr(at + field.size());
  }
};

class Transform {
 public:
  Transform(const CollectionStatistics& statistics, const PlanSettings& settings, const QueryNode& tree,
            std::vector<std::string>& notes)
      : statistics_(statistics), settings_(settings), notes_(notes), stem_(statistics.stemmer()) {
    const std::size_t prefixes = std::max<std::size_t>(1, count_prefixes(tree));
    const QueryLimits& limits = settings.limits;
    terms_of_prefix_ =
        std::max<std::size_t>(1, std::min(limits.most_prefix_terms, limits.most_expanded_terms / prefixes));
    seen_of_prefix_ = std::max<std::size_t>(1, limits.most_prefix_terms_seen / prefixes);
    const std::size_t planned = count_terms(tree) + prefixes * terms_of_prefix_;
    room_for_synonyms_ = QueryBounds{}.most_terms - std::min(QueryBounds{}.most_terms, planned);
  }

  QueryNode run(QueryNode node, Role role) {
    switch (node.op) {
      case QueryOperator::term: return role == Role::silent ? std::move(node) : with_synonyms(std::move(node));
      case QueryOperator::prefix: return expanded(node);
      case QueryOperator::any_of: return any_of(std::move(node), role);
      case QueryOperator::phrase: return role == Role::silent ? std::move(node) : phrase(std::move(node));
      case QueryOperator::near:
      case QueryOperator::range: return node;
      case QueryOperator::unscored:
        node.children.front() = run(std::move(node.children.front()), Role::silent);
        return node;
      case QueryOperator::all_of:
        for (auto& child : node.children) child = run(std::move(child), role);
        return node;
      case QueryOperator::and_not:
      case QueryOperator::and_maybe: {
        const Role others = node.op == QueryOperator::and_not || role == Role::silent ? Role::silent : Role::scored;
        for (std::size_t i = 0; i < node.children.size(); ++i) {
          node.children[i] = run(std::move(node.children[i]), i == 0 ? role : others);
        }
        return node;
      }
    }
    return node;
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  // Prefixes.

  QueryNode expanded(const QueryNode& prefix) {
    const std::string shown = shown_prefix(prefix.term);
    const std::string typed = prefix.term.substr(prefix.term.size() - typed_bytes(prefix.term));
    if (characters(typed) < settings_.limits.shortest_prefix) {
      error_ = Error{Errc::invalid_argument, shown + "*: at least " + std::to_string(settings_.limits.shortest_prefix) +
                                                 " characters are needed before a *"};
      return branch(QueryOperator::any_of, {});
    }
    const PrefixExpansion found = statistics_.expand_prefix(prefix.term, terms_of_prefix_, seen_of_prefix_);
    if (found.seen == 0) notes_.push_back("no word begins with " + shown);
    if (!found.all_seen) {
      notes_.push_back(shown + "* stands for the " + std::to_string(found.terms.size()) +
                       " most frequent of the first " + std::to_string(found.seen) +
                       " words that begin so; a longer beginning finds the others");
    } else if (found.terms.size() < found.seen) {
      notes_.push_back(shown + "* stands for the " + std::to_string(found.terms.size()) + " most frequent of " +
                       std::to_string(found.seen) + " words that begin so");
    }
    QueryNode node = branch(QueryOperator::any_of, {});
    for (const auto& [term, frequency] : found.terms) {
      QueryNode word;
      word.term = term;
      node.children.push_back(std::move(word));
    }
    return node;
  }

  // How many bytes at the end of a prefix were typed before the *: the rest is of the field.
  static std::size_t typed_bytes(const std::string& prefix) {
    if (prefix.starts_with(fields::facet_prefix)) return prefix.size() - prefix.find(':') - 1;
    return prefix.starts_with(fields::title_prefix) ? prefix.size() - fields::title_prefix.size() : prefix.size();
  }

  std::string shown_prefix(const std::string& prefix) const {
    const std::string typed = prefix.substr(prefix.size() - typed_bytes(prefix));
    for (const auto& facet : statistics_.facets()) {
      if (prefix.starts_with(fields::facet_term_prefix(facet.name))) return facet.name + ":" + typed;
    }
    return (prefix.size() > typed.size() ? std::string(fields::title) + ":" : "") + typed;
  }

  static std::size_t characters(const std::string& text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
  }

  // Synonyms.

  // The terms without their field, where all are of one.
  static std::optional<std::vector<std::string>> of_one_field(const QueryNode* first, std::size_t count) {
    std::vector<std::string> terms;
    for (std::size_t i = 0; i < count; ++i) {
      const FieldTerm term(first[i].term);
      if (term.field != FieldTerm(first->term).field) return std::nullopt;
      terms.push_back(term.rest);
    }
    return terms;
  }

  const std::vector<Synonyms::Expression>* synonyms_of(const QueryNode* first, std::size_t count) const {
    if (settings_.synonyms == nullptr || count > settings_.synonyms->longest()) return nullptr;
    const auto terms = of_one_field(first, count);
    return terms ? settings_.synonyms->alternatives(*terms) : nullptr;
  }

  // As parts of the query in the field of the term; stemmed says whether single words are looked for by their stems.
  void add_synonyms(const std::vector<Synonyms::Expression>& expressions, const QueryNode& instead_of, bool stemmed,
                    std::vector<QueryNode>& parts) {
    const std::string field = FieldTerm(instead_of.term).field;
    for (const auto& words : expressions) {
      if (words.size() > room_for_synonyms_) {
        note_once("not all synonyms were looked for: the query is too long");
        return;
      }
      QueryNode node;
      for (const auto& word : words) {
        QueryNode term;
        const bool as_stem = stemmed && words.size() == 1 && has_stem(word) && !stem_.is_none();
        term.term = as_stem ? "Z" + field + stem_(word) : field + word;
        term.query_frequency = instead_of.query_frequency;
        node.children.push_back(std::move(term));
      }
      if (words.size() == 1) {
        node = QueryNode(std::move(node.children.front()));
      } else {
        node.op = QueryOperator::phrase;
        node.window = static_cast<std::uint32_t>(words.size());
      }
      // Two words may have one stem.
      const bool known = std::any_of(parts.begin(), parts.end(), [&](const QueryNode& part) {
        return part.op == QueryOperator::term && node.op == QueryOperator::term && part.term == node.term;
      });
      if (known) continue;
      room_for_synonyms_ -= words.size();
      parts.push_back(std::move(node));
    }
  }

  QueryNode with_synonyms(QueryNode term) {
    const auto* found = synonyms_of(&term, 1);
    if (found == nullptr) return term;
    std::vector<QueryNode> parts{term};
    add_synonyms(*found, term, true, parts);
    if (parts.size() == 1) return term;
    return branch(QueryOperator::any_of, std::move(parts));
  }

  QueryNode phrase(QueryNode phrase) {
    if (phrase.window != phrase.children.size()) return phrase;
    const auto* found = synonyms_of(phrase.children.data(), phrase.children.size());
    if (found == nullptr) return phrase;
    const QueryNode first = phrase.children.front();
    std::vector<QueryNode> parts{std::move(phrase)};
    add_synonyms(*found, first, false, parts);
    return branch(QueryOperator::any_of, std::move(parts));
  }

  // Those of words that were typed side by side.
  void add_synonyms_of_sequences(const std::vector<QueryNode>& words, std::vector<QueryNode>& parts) {
    if (settings_.synonyms == nullptr) return;
    for (std::size_t from = 0; from < words.size(); ++from) {
      for (std::size_t count = 2; count <= settings_.synonyms->longest() && from + count <= words.size(); ++count) {
        const QueryNode& last = words[from + count - 1];
        const bool goes_on = words[from].op == QueryOperator::term && last.op == QueryOperator::term &&
                             words[from].position > 0 && last.position == words[from].position + count - 1;
        if (!goes_on) break;
        if (const auto* found = synonyms_of(&words[from], count)) add_synonyms(*found, words[from], true, parts);
      }
    }
  }

  // An OR, and its frequent words.

  static void flatten(std::vector<QueryNode> children, std::vector<QueryNode>& flat) {
    for (auto& child : children) {
      if (child.op == QueryOperator::any_of) {
        flatten(std::move(child.children), flat);
      } else {
        flat.push_back(std::move(child));
      }
    }
  }

  bool is_frequent(const QueryNode& node) const {
    return node.op == QueryOperator::term && statistics_.documents() >= settings_.frequent_words.smallest_collection &&
           statistics_.document_frequency(node.term) >
               settings_.frequent_words.share * static_cast<double>(statistics_.documents());
  }

  // Whether it holds a word that occurs; what only filters is none.
  bool holds_word(const QueryNode& node) const {
    const auto holds = [&](const QueryNode& child) { return holds_word(child); };
    switch (node.op) {
      case QueryOperator::term: return statistics_.document_frequency(node.term) > 0;
      case QueryOperator::all_of:
      case QueryOperator::any_of: return std::any_of(node.children.begin(), node.children.end(), holds);
      case QueryOperator::and_not:
      case QueryOperator::and_maybe: return holds(node.children.front());
      case QueryOperator::phrase:
      case QueryOperator::near: return true;
      case QueryOperator::unscored:
      case QueryOperator::range:
      case QueryOperator::prefix: break;
    }
    return false;
  }

  QueryNode any_of(QueryNode node, Role role) {
    std::vector<QueryNode> children;
    flatten(std::move(node.children), children);
    std::vector<QueryNode> together;
    if (role != Role::silent) add_synonyms_of_sequences(children, together);

    std::vector<QueryNode> needed;
    std::vector<QueryNode> welcome;
    // Below an OR nothing is required of a part by itself.
    const Role of_children = role == Role::silent ? Role::silent : Role::scored;
    for (auto& child : children) {
      auto& side = role == Role::required && is_frequent(child) ? welcome : needed;
      side.push_back(run(std::move(child), of_children));
    }
    for (auto& synonym : together) needed.push_back(std::move(synonym));
    const bool enough = std::any_of(needed.begin(), needed.end(), [&](const auto& part) { return holds_word(part); });
    if (welcome.empty() || !enough) {
      for (auto& part : welcome) needed.push_back(std::move(part));
      return branch(QueryOperator::any_of, std::move(needed));
    }
    QueryNode wanted =
        needed.size() == 1 ? std::move(needed.front()) : branch(QueryOperator::any_of, std::move(needed));
    welcome.insert(welcome.begin(), std::move(wanted));
    return branch(QueryOperator::and_maybe, std::move(welcome));
  }

  void note_once(const std::string& note) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
  }

  const CollectionStatistics& statistics_;
  const PlanSettings& settings_;
  std::vector<std::string>& notes_;
  const Xapian::Stem stem_;
  std::size_t terms_of_prefix_ = 0;
  std::size_t seen_of_prefix_ = 0;
  std::size_t room_for_synonyms_ = 0;
  std::optional<Error> error_;
};

}  // namespace

result<QueryNode> transform_query(QueryNode tree, const CollectionStatistics& statistics, const PlanSettings& settings,
                                  std::vector<std::string>& notes) {
  Transform transform(statistics, settings, tree, notes);
  QueryNode transformed = transform.run(std::move(tree), Role::required);
  if (transform.error()) return *transform.error();
  return transformed;
}

}  // namespace hedgerow
