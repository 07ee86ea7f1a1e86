// The engine's pruning against the meaning of a query, on tiny databases: thousands of them, because it goes wrong in
// corners. Scores are whole numbers here (a term's wdf), so nothing is rounded.
#include <doctest/doctest.h>

#include <xapian.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.hpp"
#include "index/global_weight.hpp"
#include "index/guard.hpp"
#include "index/partition_query.hpp"
#include "index/placeholder_source.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

class WdfWeight : public Xapian::Weight {
 public:
  explicit WdfWeight(double slack = bound_slack) : slack_(slack) {
    need_stat(WDF);
    need_stat(WDF_MAX);
  }
  WdfWeight* clone() const override { return new WdfWeight(slack_); }
  void init(double factor) override { factor_ = factor; }
  double get_sumpart(Xapian::termcount wdf, Xapian::termcount, Xapian::termcount) const override { return factor_ * wdf; }
  double get_maxpart() const override { return factor_ * get_wdf_upper_bound() * slack_; }
  double get_sumextra(Xapian::termcount, Xapian::termcount) const override { return 0; }
  double get_maxextra() const override { return 0; }

 private:
  double slack_;
  double factor_ = 0;
};

using Text = std::vector<std::string>;

// The value of a text, for ranges: drawn from its words, and missing in some. Slot 0.
std::string value_of(const Text& text) {
  const double number = static_cast<double>(text.size()) + (text.front()[0] - 'a') * 0.25;
  return text.size() % 4 == 3 ? std::string() : Xapian::sortable_serialise(number);
}

using Scores = std::map<std::uint32_t, double>;

// A partition whose only documents are these, with both guards.
Xapian::WritableDatabase database_of(const std::vector<Text>& texts, const std::filesystem::path& directory) {
  Xapian::WritableDatabase database(directory.string(),
                                    Xapian::DB_CREATE_OR_OVERWRITE | Xapian::DB_NO_SYNC | Xapian::DB_DANGEROUS);
  Xapian::Document guard;
  guard.add_boolean_term(guard::marker_term);
  for (const Text& text : texts) {
    for (const auto& word : text) guard.add_boolean_term(word);
  }
  database.replace_document(guard::front, guard);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Xapian::Document document;
    Xapian::termpos position = 0;
    for (const auto& word : texts[i]) document.add_posting(word, ++position);
    document.add_value(0, value_of(texts[i]));
    database.replace_document(guard::docid_of(DocumentNumber{static_cast<std::uint32_t>(i + 1)}), document);
  }
  database.replace_document(guard::back(texts.size()), guard);
  database.commit();
  return database;
}

bool holds_phrase(const Text& text, const QueryNode& node) {
  for (std::size_t at = 0; at + node.children.size() <= text.size(); ++at) {
    bool here = true;
    for (std::size_t i = 0; i < node.children.size(); ++i) here = here && text[at + i] == node.children[i].term;
    if (here) return true;
  }
  return false;
}

// What the query means.
Scores meaning(const QueryNode& node, const std::vector<Text>& texts) {
  Scores scores;
  if (node.op == QueryOperator::term) {
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      const auto count = std::count(texts[i].begin(), texts[i].end(), node.term);
      if (count > 0) scores[i + 1] = static_cast<double>(count);
    }
    return scores;
  }
  if (node.op == QueryOperator::range) {
    for (std::uint32_t i = 0; i < texts.size(); ++i) {
      const std::string value = value_of(texts[i]);
      if (!value.empty() && value >= node.begin && (node.end.empty() || value <= node.end)) scores[i + 1] = 0;
    }
    return scores;
  }
  scores = meaning(node.children[0], texts);
  if (node.op == QueryOperator::unscored) {
    for (auto& entry : scores) entry.second = 0;
    return scores;
  }
  for (std::size_t c = 1; c < node.children.size(); ++c) {
    const Scores other = meaning(node.children[c], texts);
    const bool all = node.op == QueryOperator::all_of || node.op == QueryOperator::phrase;
    if (all) std::erase_if(scores, [&](const auto& entry) { return !other.contains(entry.first); });
    if (node.op == QueryOperator::and_not) {
      std::erase_if(scores, [&](const auto& entry) { return other.contains(entry.first); });
      continue;
    }
    for (const auto& [document, score] : other) {
      if (node.op == QueryOperator::any_of || scores.contains(document)) scores[document] += score;
    }
  }
  if (node.op == QueryOperator::phrase) {
    std::erase_if(scores, [&](const auto& entry) { return !holds_phrase(texts[entry.first - 1], node); });
  }
  return scores;
}

QueryNode draw_query(Random& random, std::uint64_t vocabulary, int depth) {
  QueryNode node;
  const std::uint64_t shape = depth == 0 ? random.below(12) == 0 ? 11 : 0 : random.below(12);
  const auto word = [&] { return std::string(1, static_cast<char>('a' + random.below(vocabulary))); };
  if (shape < 2) {
    node.term = word();
    return node;
  }
  if (shape == 2) {
    node.op = QueryOperator::phrase;
    for (int i = 0; i < 2; ++i) node.children.push_back({.term = word(), .children = {}});
    node.window = 2;
    return node;
  }
  if (shape == 10) {
    node.op = QueryOperator::unscored;
    node.children.push_back(draw_query(random, vocabulary, depth - 1));
    return node;
  }
  if (shape == 11) {
    node.op = QueryOperator::range;
    const double begin = static_cast<double>(random.below(8));
    if (random.chance(0.8)) node.begin = Xapian::sortable_serialise(begin);
    if (node.begin.empty() || random.chance(0.8)) {
      node.end = Xapian::sortable_serialise(begin + static_cast<double>(random.below(5)));
    }
    return node;
  }
  node.op = shape < 6 ? QueryOperator::any_of
            : shape == 6 ? QueryOperator::all_of
            : shape == 7 ? QueryOperator::and_not
                         : QueryOperator::and_maybe;
  const std::uint64_t children = 2 + random.below(node.op == QueryOperator::any_of ? 3 : 1);
  for (std::uint64_t i = 0; i < children; ++i) node.children.push_back(draw_query(random, vocabulary, depth - 1));
  return node;
}

bool has_optional_parts(const QueryNode& node) {
  return node.op == QueryOperator::any_of || node.op == QueryOperator::and_maybe ||
         std::any_of(node.children.begin(), node.children.end(), has_optional_parts);
}

std::string describe(const QueryNode& node) {
  if (node.op == QueryOperator::term) return node.term;
  static const char* const names[] = {"", "AND", "OR", "NOT", "MAYBE", "PHRASE", "NEAR", "UNSCORED", "RANGE"};
  if (node.op == QueryOperator::range) return "RANGE";
  std::string text = node.op == QueryOperator::unscored ? "(UNSCORED " : "(";
  for (const auto& child : node.children) {
    text += (text.size() > 1 && node.op != QueryOperator::unscored ? std::string(" ") + names[static_cast<int>(node.op)] + " " : "") + describe(child);
  }
  return text + ")";
}

using Hits = std::vector<std::pair<std::uint32_t, double>>;

Hits best_of(const Scores& scores, std::size_t k, double threshold) {
  Hits hits(scores.begin(), scores.end());
  std::stable_sort(hits.begin(), hits.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::erase_if(hits, [&](const auto& hit) { return hit.second <= threshold; });
  if (hits.size() > k) hits.resize(k);
  return hits;
}

PreparedQuery::Implementation prepared_for(const QueryNode& root) {
  PreparedQuery::Implementation prepared;
  prepared.root = root;
  prepared.average_length = 1;
  prepared.prunes = has_optional_parts(root);
  for (char c = 'a'; c <= 'z'; ++c) prepared.inverse_document_frequencies[std::string(1, c)] = 1;
  return prepared;
}

Hits search(const Xapian::Database& database, const QueryNode& root, std::uint32_t documents, Xapian::doccount k,
            double threshold) {
  const auto prepared = prepared_for(root);
  const WdfWeight weight;
  const auto query = rewrite_for_partition(prepared, {database, documents, documents}, weight);
  Hits hits;
  if (!query) return hits;
  PlaceholderSource placeholders(k, threshold);
  Xapian::Enquire enquire(database);
  enquire.set_weighting_scheme(weight);
  enquire.set_query(Xapian::Query(Xapian::Query::OP_OR, query->query, Xapian::Query(&placeholders)));
  const Xapian::MSet matches = enquire.get_mset(0, k);
  for (auto match = matches.begin(); match != matches.end(); ++match) {
    if (guard::is_document(*match, documents)) hits.emplace_back(guard::number_of(*match).value, match.get_weight());
  }
  return hits;
}

// The first documents that match, by number, without weights; and the bounds on how many there are.
struct Unscored {
  std::vector<std::uint32_t> documents;
  MatchBounds bounds;
};

Unscored first_matches(const Xapian::Database& database, const QueryNode& root, std::uint32_t documents,
                       std::size_t most) {
  Unscored found;
  const auto query = rewrite_unscored(prepared_for(root), {database, documents, documents});
  if (!query) return found;
  found.bounds = query->matches;
  Xapian::Enquire enquire(database);
  enquire.set_weighting_scheme(Xapian::BoolWeight());
  enquire.set_query(query->query);
  const Xapian::MSet matches = enquire.get_mset(0, static_cast<Xapian::doccount>(most) + guard::count);
  for (auto match = matches.begin(); match != matches.end() && found.documents.size() < most; ++match) {
    if (guard::is_document(*match, documents)) found.documents.push_back(guard::number_of(*match).value);
  }
  return found;
}

}  // namespace

TEST_CASE("Cases in which Xapian 1.4.22 loses the best document by itself") {
  const TemporaryDirectory directory;
  const auto word = [](const char* text) { return QueryNode{.term = text, .children = {}}; };
  const auto of = [](QueryOperator op, std::vector<QueryNode> children) {
    return QueryNode{.op = op, .term = {}, .children = std::move(children)};
  };
  const auto texts_of = [](const std::vector<const char*>& lines) {
    std::vector<Text> texts;
    for (const std::string line : lines) {
      Text& text = texts.emplace_back();
      for (const char c : line) text.emplace_back(1, c);
    }
    return texts;
  };
  const auto best = [&](const std::vector<Text>& texts, const QueryNode& query, Xapian::doccount k) {
    return search(database_of(texts, directory.path() / "database"), query, static_cast<std::uint32_t>(texts.size()), k,
                  0);
  };
  // A list ends (c, after document 2) while an OR has become an AND_MAYBE whose right side is ahead.
  const auto ends = texts_of({"a", "bcc", "b", "aabb", "a", "a", "a"});
  CHECK(best(ends, of(QueryOperator::any_of, {word("a"), word("b"), word("c")}), 1) == Hits{{4, 4}});
  // The score to beat comes into force at the second match of +a b.
  const auto jumps = texts_of({"abb", "a", "aabb"});
  CHECK(best(jumps, of(QueryOperator::and_maybe, {word("a"), word("b")}), 1) == Hits{{3, 4}});
  // +w "a b" c: nothing holds the phrase and w, and the engine, even unpruned, gives its weight to document 2.
  const auto guesses = texts_of({"wba", "wc", "ab", "ab", "abc"});
  const QueryNode phrase{.op = QueryOperator::phrase, .term = {}, .window = 2, .children = {word("a"), word("b")}};
  const QueryNode welcome = of(QueryOperator::any_of, {phrase, word("c")});
  CHECK(best(guesses, of(QueryOperator::and_maybe, {word("w"), welcome}), 2) == Hits{{2, 2}, {1, 1}});
}

TEST_CASE("The best hits of any query are found on any documents, with and without a score to beat") {
  const TemporaryDirectory directory;
  Random random(101);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t vocabulary = 3 + random.below(6);
    std::vector<Text> texts(3 + random.below(30));
    for (Text& text : texts) {
      for (std::uint64_t i = 1 + random.below(6); i > 0; --i) {
        // Some words are rare, so that lists of all lengths meet.
        const std::uint64_t word = std::min(random.below(vocabulary), random.below(vocabulary + 2));
        text.emplace_back(1, static_cast<char>('a' + word));
      }
    }
    const Xapian::Database database = database_of(texts, directory.path() / "database");
    for (int q = 0; q < 30; ++q) {
      const QueryNode query = draw_query(random, vocabulary + 1, 3);
      const Scores scores = meaning(query, texts);
      CAPTURE(describe(query));
      CAPTURE(round);
      for (const std::size_t most : {std::size_t{2}, texts.size()}) {
        const auto found = first_matches(database, query, static_cast<std::uint32_t>(texts.size()), most);
        std::vector<std::uint32_t> expected;
        for (const auto& [document, score] : scores) expected.push_back(document);
        CHECK(found.bounds.lowest <= static_cast<double>(expected.size()));
        CHECK(found.bounds.highest >= static_cast<double>(expected.size()));
        if (expected.size() > most) expected.resize(most);
        REQUIRE(found.documents == expected);
      }
      const auto without_score = [](const auto& entry) { return entry.second == 0; };
      if (!may_score_nothing(query)) CHECK(std::none_of(scores.begin(), scores.end(), without_score));
      if (never_scores(query)) CHECK(std::all_of(scores.begin(), scores.end(), without_score));
      for (const Xapian::doccount k : {1u, 2u, 4u}) {
        for (const double threshold : {0.0, 1.0, 2.0, 3.0}) {
          const auto found = search(database, query, static_cast<std::uint32_t>(texts.size()), k, threshold);
          const auto expected = best_of(scores, k, threshold);
          CAPTURE(k);
          CAPTURE(threshold);
          REQUIRE(found == expected);
        }
      }
    }
  }
}

}  // namespace hedgerow::test
