#include "index/partition_query.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/global_weight.hpp"
#include "index/guard.hpp"
#include "index/match_list_source.hpp"
#include "index/range_source.hpp"
#include "index/stop_source.hpp"

namespace hedgerow {

namespace {

// Where a part of the query stands.
enum class Place {
  spine,     // from the root through AND, the left of AND_NOT and of AND_MAYBE: whatever matches it is needed
  optional,  // below an OR, or on the right of an AND_MAYBE: it adds to the score
  excluded,  // on the right of an AND_NOT: it scores nothing
};

enum class Weights { scored, unscored };

class Rewriter {
 public:
  // weight: null where nothing is scored.
  Rewriter(const PreparedQuery::Implementation& prepared, const PartitionView& partition, const Xapian::Weight* weight)
      : prepared_(prepared),
        partition_(partition),
        weight_(weight),
        weights_(weight == nullptr ? Weights::unscored : Weights::scored),
        documents_(partition.documents) {}

  std::optional<PartitionQuery> rewrite(const QueryNode& node, Place place) {
    switch (node.op) {
      case QueryOperator::term: return term(node, place);
      case QueryOperator::any_of: return any_of(node.children, 0, place == Place::spine ? Place::optional : place);
      case QueryOperator::all_of:
      case QueryOperator::and_not:
      case QueryOperator::and_maybe:
        return place == Place::optional ? matched_first(as_it_is(node, Place::spine)) : as_it_is(node, place);
      case QueryOperator::phrase:
      case QueryOperator::near:
        return place != Place::excluded && prepared_.prunes ? matched_first(as_it_is(node, place))
                                                            : as_it_is(node, place);
      case QueryOperator::unscored: return unscored(node.children.front(), place);
      case QueryOperator::range: return range(node);
      case QueryOperator::prefix: break;  // never in a prepared query
    }
    return std::nullopt;
  }

 private:
  // Without the guards. Looked up once per term.
  Xapian::doccount document_frequency(const std::string& term) {
    if (term.size() > longest_term_bytes) return 0;
    const auto [entry, is_new] = frequencies_.try_emplace(term, 0);
    if (is_new) {
      const Xapian::doccount with_guards = partition_.database.get_termfreq(term);
      entry->second = with_guards > guard::count ? with_guards - guard::count : 0;
    }
    return entry->second;
  }

  std::optional<PartitionQuery> as_it_is(const QueryNode& node, Place place) {
    switch (node.op) {
      case QueryOperator::all_of: return all_of(node, place);
      case QueryOperator::and_not: return and_not(node, place);
      case QueryOperator::and_maybe: return and_maybe(node, place);
      case QueryOperator::phrase:
      case QueryOperator::near: return positional(node, place);
      default: break;
    }
    return rewrite(node, place);
  }

  std::optional<PartitionQuery> term(const QueryNode& node, Place place) {
    const double frequency = document_frequency(node.term);
    if (frequency == 0) return std::nullopt;
    Xapian::Query query(node.term, node.query_frequency);
    if (place != Place::excluded && weights_ == Weights::scored) {
      const auto idf = prepared_.inverse_document_frequencies.find(node.term);
      // Stands here, but nowhere in the collection, says the plan: its statistics are of another index.
      if (idf == prepared_.inverse_document_frequencies.end()) return std::nullopt;
      query = Xapian::Query(Xapian::Query::OP_SCALE_WEIGHT, query, idf->second);
    } else if (frequency == documents_) {
      // The engine (1.4.22, LocalSubMatch::open_post_list) would itself replace an unweighted term that stands in every
      // document by the list of all documents, but leaves the term's name on it, and that list then looks for its next
      // chunk, behind some thousand documents, under the wrong name: "Unexpected end of posting list".
      query = Xapian::Query::MatchAll;
    }
    return PartitionQuery{query, {frequency, frequency, frequency}};
  }

  std::optional<PartitionQuery> unscored(const QueryNode& child, Place place) {
    const Weights outside = std::exchange(weights_, Weights::unscored);
    auto part = rewrite(child, place);
    weights_ = outside;
    if (part && place != Place::excluded && weights_ == Weights::scored) {
      part->query = Xapian::Query(Xapian::Query::OP_SCALE_WEIGHT, part->query, 0);
    }
    return part;
  }

  // The bounds come from the lowest and the highest value of the partition, the estimate from the share of what lies
  // between them.
  std::optional<PartitionQuery> range(const QueryNode& node) {
    const Xapian::Database& database = partition_.database;
    const double with_value = database.get_value_freq(node.slot);
    const std::string lowest = database.get_value_lower_bound(node.slot);
    const std::string highest = database.get_value_upper_bound(node.slot);
    if (with_value == 0 || (!node.end.empty() && (lowest > node.end || node.begin > node.end)) || highest < node.begin) {
      return std::nullopt;
    }
    MatchBounds matches{with_value, with_value, with_value};
    if (lowest < node.begin || (!node.end.empty() && highest > node.end)) {
      const double from = Xapian::sortable_unserialise(std::max(lowest, node.begin));
      const double to = Xapian::sortable_unserialise(node.end.empty() ? highest : std::min(highest, node.end));
      const double whole = Xapian::sortable_unserialise(highest) - Xapian::sortable_unserialise(lowest);
      const double share = (to - from) / whole;
      matches.lowest = 0;
      matches.estimate = with_value * (share >= 0 && share <= 1 ? share : 0.5);
    }
    auto* const source =
        new RangeSource({node.slot, node.begin, node.end}, guard::back(partition_.collection_documents),
                        static_cast<Xapian::doccount>(matches.estimate), partition_.stop);
    return PartitionQuery{Xapian::Query(source->release()), matches};
  }

  std::optional<PartitionQuery> all_of(const QueryNode& node, Place place) {
    std::vector<Xapian::Query> queries;
    MatchBounds matches{documents_, documents_, documents_};
    for (const auto& child : node.children) {
      const auto part = rewrite(child, place);
      if (!part) return std::nullopt;
      queries.push_back(part->query);
      matches.lowest = std::max(0.0, matches.lowest + part->matches.lowest - documents_);
      matches.estimate *= part->matches.estimate / documents_;
      matches.highest = std::min(matches.highest, part->matches.highest);
    }
    return PartitionQuery{Xapian::Query(Xapian::Query::OP_AND, queries.begin(), queries.end()), matches};
  }

  std::optional<PartitionQuery> any_of(const std::vector<QueryNode>& children, std::size_t first, Place place) {
    std::vector<Xapian::Query> queries;
    MatchBounds matches;
    double none = 1;  // the share of documents that match none
    for (std::size_t i = first; i < children.size(); ++i) {
      const auto part = rewrite(children[i], place);
      if (!part) continue;
      queries.push_back(part->query);
      matches.lowest = std::max(matches.lowest, part->matches.lowest);
      none *= 1 - part->matches.estimate / documents_;
      matches.highest = std::min(documents_, matches.highest + part->matches.highest);
    }
    if (queries.empty()) return std::nullopt;
    matches.estimate = documents_ * (1 - none);
    return PartitionQuery{Xapian::Query(Xapian::Query::OP_OR, queries.begin(), queries.end()), matches};
  }

  std::optional<PartitionQuery> and_not(const QueryNode& node, Place place) {
    auto wanted = rewrite(node.children.front(), place);
    if (!wanted) return std::nullopt;
    const auto excluded = any_of(node.children, 1, Place::excluded);
    if (!excluded) return wanted;
    // The guards hold the excluded words too, and must match all the same.
    const Xapian::Query excluded_documents =
        prepared_.prunes
            ? Xapian::Query(Xapian::Query::OP_AND_NOT, excluded->query, Xapian::Query(guard::marker_term))
            : excluded->query;
    MatchBounds matches;
    matches.lowest = std::max(0.0, wanted->matches.lowest - excluded->matches.highest);
    matches.estimate = wanted->matches.estimate * (1 - excluded->matches.estimate / documents_);
    matches.highest = std::min(wanted->matches.highest, documents_ - excluded->matches.lowest);
    return PartitionQuery{Xapian::Query(Xapian::Query::OP_AND_NOT, wanted->query, excluded_documents), matches};
  }

  std::optional<PartitionQuery> and_maybe(const QueryNode& node, Place place) {
    auto wanted = rewrite(node.children.front(), place);
    if (!wanted || place == Place::excluded || weights_ == Weights::unscored) return wanted;
    const auto welcome = any_of(node.children, 1, Place::optional);
    if (!welcome) return wanted;
    return PartitionQuery{Xapian::Query(Xapian::Query::OP_AND_MAYBE, wanted->query, welcome->query), wanted->matches};
  }

  // The engine takes a phrase's parts as plain terms only, so the phrase itself scores nothing and filters the scaled
  // words, all of which it needs in any case.
  std::optional<PartitionQuery> positional(const QueryNode& node, Place place) {
    auto words = all_of(node, place);
    if (!words) return std::nullopt;
    std::vector<Xapian::Query> terms;
    for (const auto& child : node.children) terms.emplace_back(child.term, child.query_frequency);
    const auto op = node.op == QueryOperator::phrase ? Xapian::Query::OP_PHRASE : Xapian::Query::OP_NEAR;
    const Xapian::Query in_place(op, terms.begin(), terms.end(), node.window);

    MatchBounds matches = words->matches;
    matches.lowest = 0;
    matches.estimate /= node.op == QueryOperator::near ? 2 : node.window == node.children.size() ? 4 : 3;
    const Xapian::Query stop((new StopSource(guard::back(partition_.collection_documents), partition_.stop))->release());
    const Xapian::Query stoppable(Xapian::Query::OP_FILTER, in_place, stop);
    if (place == Place::excluded) return PartitionQuery{stoppable, matches};
    return PartitionQuery{Xapian::Query(Xapian::Query::OP_FILTER, words->query, stoppable), matches};
  }

  // Runs the part and puts its matches, between the guards, in its place.
  std::optional<PartitionQuery> matched_first(const std::optional<PartitionQuery>& part) {
    if (!part) return std::nullopt;
    Xapian::Enquire enquire(partition_.database);
    const bool scored = weights_ == Weights::scored;
    if (scored) {
      enquire.set_weighting_scheme(*weight_);
    } else {
      enquire.set_weighting_scheme(Xapian::BoolWeight());
    }
    enquire.set_query(part->query);
    // Room for everything, so nothing is pruned.
    const Stopper stopper(partition_.stop);
    const Xapian::MSet found = enquire.get_mset(0, partition_.documents + guard::count, nullptr, &stopper);

    std::vector<std::pair<Xapian::docid, double>> matches;
    matches.reserve(found.size() + guard::count);
    matches.emplace_back(guard::front, 0.0);
    for (auto match = found.begin(); match != found.end(); ++match) {
      if (guard::is_document(*match, partition_.collection_documents)) matches.emplace_back(*match, match.get_weight());
    }
    if (matches.size() == 1) return std::nullopt;
    matches.emplace_back(guard::back(partition_.collection_documents), 0.0);
    std::sort(matches.begin(), matches.end());
    const auto count = static_cast<double>(matches.size() - guard::count);
    // The query owns the list from here on.
    return PartitionQuery{Xapian::Query((new MatchListSource(std::move(matches)))->release()), {count, count, count}};
  }

  const PreparedQuery::Implementation& prepared_;
  const PartitionView& partition_;
  const Xapian::Weight* const weight_;
  Weights weights_;
  const double documents_;
  std::unordered_map<std::string, Xapian::doccount> frequencies_;
};

}  // namespace

bool may_score_nothing(const QueryNode& node) {
  const auto may = [](const QueryNode& child) { return may_score_nothing(child); };
  switch (node.op) {
    case QueryOperator::unscored:
    case QueryOperator::range: return true;
    case QueryOperator::all_of: return std::all_of(node.children.begin(), node.children.end(), may);
    case QueryOperator::any_of: return std::any_of(node.children.begin(), node.children.end(), may);
    case QueryOperator::and_not:
    case QueryOperator::and_maybe: return may(node.children.front());
    default: return false;
  }
}

bool never_scores(const QueryNode& node) {
  switch (node.op) {
    case QueryOperator::unscored:
    case QueryOperator::range: return true;
    case QueryOperator::all_of:
    case QueryOperator::any_of:
    case QueryOperator::and_maybe: return std::all_of(node.children.begin(), node.children.end(), never_scores);
    case QueryOperator::and_not: return never_scores(node.children.front());
    default: return false;
  }
}

std::optional<PartitionQuery> rewrite_unscored(const PreparedQuery::Implementation& prepared,
                                               const PartitionView& partition) {
  return Rewriter(prepared, partition, nullptr).rewrite(prepared.root, Place::spine);
}

std::optional<PartitionQuery> rewrite_for_partition(const PreparedQuery::Implementation& prepared,
                                                    const PartitionView& partition, const Xapian::Weight& weight) {
  return Rewriter(prepared, partition, &weight).rewrite(prepared.root, Place::spine);
}

}  // namespace hedgerow
