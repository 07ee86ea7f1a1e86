#include "index/snippets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "collection_material.hpp"
#include "comparison.hpp"
#include "index/local_search.hpp"
#include "index/scoring.hpp"
#include "reference.hpp"
#include "scifact.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

// Term, without the title's prefix, to its weight in the whole collection.
using Weights = std::map<std::string, double>;

void add_terms(const Meaning& meaning, const Xapian::Database& database, Weights& weights) {
  if (meaning.kind == Meaning::Kind::words && !meaning.words.empty()) {
    for (auto it = meaning.words.get_terms_begin(); it != meaning.words.get_terms_end(); ++it) {
      const std::string indexed = *it;
      if (indexed.starts_with("XF") || indexed.starts_with("Q") || !database.term_exists(indexed)) continue;
      std::string term = indexed;
      if (const std::size_t prefix = term.find('S'); prefix == 0 || (prefix == 1 && term[0] == 'Z')) term.erase(prefix, 1);
      double& weight = weights[term];
      weight = std::max(weight, inverse_document_frequency(database.get_doccount(), database.get_termfreq(indexed)));
    }
  }
  const std::size_t wanted = meaning.kind == Meaning::Kind::and_not ? 1 : meaning.parts.size();
  for (std::size_t i = 0; i < wanted; ++i) add_terms(meaning.parts[i], database, weights);
}

// The terms of the query that a word speaks, by the engine's own indexer.
class Words {
 public:
  Words() {
    generator_.set_flags(Xapian::TermGenerator::FLAG_CJK_NGRAM);
    generator_.set_stemmer(Xapian::Stem("english"));
  }

  std::set<std::string> spoken(const std::string& word, const Weights& weights) {
    Xapian::Document document;
    generator_.set_document(document);
    generator_.index_text(word);
    std::set<std::string> terms;
    for (auto term = document.termlist_begin(); term != document.termlist_end(); ++term) {
      if (weights.contains(*term)) terms.insert(*term);
    }
    return terms;
  }

 private:
  Xapian::TermGenerator generator_;
};

double sum(const std::set<std::string>& terms, const Weights& weights) {
  double total = 0;
  for (const auto& term : terms) total += weights.at(term);
  return total;
}

struct Piece {
  std::string text;
  bool marked = false;
};

struct ReadSnippet {
  bool cut_before = false;
  bool cut_behind = false;
  std::vector<Piece> pieces;

  std::string text() const {
    std::string all;
    for (const auto& piece : pieces) all += piece.text;
    return all;
  }
};

std::string unescaped(std::string text) {
  static const std::vector<std::pair<std::string, std::string>> entities{
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [entity, character] : entities) {
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; at += character.size()) {
      text.replace(at, entity.size(), character);
    }
  }
  return text;
}

ReadSnippet read_snippet(std::string html) {
  const std::string dots = "\u2026";
  ReadSnippet snippet;
  if (html.starts_with(dots + " ")) {
    snippet.cut_before = true;
    html.erase(0, dots.size() + 1);
  }
  if (html.ends_with(" " + dots)) {
    snippet.cut_behind = true;
    html.resize(html.size() - dots.size() - 1);
  }
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t mark = html.find("<b>", at);
    snippet.pieces.push_back({unescaped(html.substr(at, mark - at)), false});
    if (mark == std::string::npos) break;
    const std::size_t end = html.find("</b>", mark);
    REQUIRE(end != std::string::npos);
    snippet.pieces.push_back({unescaped(html.substr(mark + 3, end - mark - 3)), true});
    at = end + 4;
  }
  return snippet;
}

struct PlacedWord {
  std::string text;
  std::size_t begin = 0;
};

// What stands between blanks, without punctuation around it.
std::vector<PlacedWord> words_of(const std::string& text) {
  std::vector<PlacedWord> words;
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0; };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t blank = std::min(text.find(' ', at), text.size());
    std::size_t begin = at;
    std::size_t end = blank;
    while (begin < end && !is_part(text[begin])) ++begin;
    while (end > begin && !is_part(text[end - 1])) --end;
    if (begin < end) words.push_back({text.substr(begin, end - begin), begin});
    at = blank + 1;
  }
  return words;
}

bool is_simple(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return c < 0x80 && std::isalpha(c) != 0; });
}

// The highest weight of any passage: every pair of a first and a last word is tried.
double best_by_trying(const std::string& text, const Weights& weights, std::size_t longest, Words& engine) {
  std::vector<std::pair<PlacedWord, std::set<std::string>>> speaking;
  std::map<std::string, std::set<std::string>> known;
  for (const auto& word : words_of(text)) {
    if (!is_simple(word.text)) continue;
    const auto [entry, is_new] = known.try_emplace(word.text);
    if (is_new) entry->second = engine.spoken(word.text, weights);
    if (!entry->second.empty()) speaking.emplace_back(word, entry->second);
  }
  double best = 0;
  for (std::size_t first = 0; first < speaking.size(); ++first) {
    std::set<std::string> terms;
    for (std::size_t last = first; last < speaking.size(); ++last) {
      const auto& word = speaking[last].first;
      if (word.begin + word.text.size() - speaking[first].first.begin > longest) break;
      terms.insert(speaking[last].second.begin(), speaking[last].second.end());
      best = std::max(best, sum(terms, weights));
    }
  }
  return best;
}

std::string with_single_blanks(const std::string& text) {
  std::string single;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) single += c;
    else if (!single.empty() && single.back() != ' ') single += ' ';
  }
  if (single.ends_with(' ')) single.pop_back();
  return single;
}

// What every snippet is, computed without the code that made it. Gives whether it marks anything.
bool check_snippet(const std::string& html, const std::string& stored, const Weights& weights, std::size_t longest,
                   Words& engine) {
  const std::string text = with_single_blanks(stored);
  const ReadSnippet snippet = read_snippet(html);
  const std::string shown = snippet.text();
  CAPTURE(html);
  CAPTURE(text);
  // A part of the text, not longer than wanted, and cut where it says so.
  CHECK(shown.size() <= longest);
  CHECK(text.find(shown) != std::string::npos);
  CHECK((text.starts_with(shown) || snippet.cut_before));
  CHECK((text.ends_with(shown) || snippet.cut_behind));
  CHECK((text == shown) == (!snippet.cut_before && !snippet.cut_behind));

  std::set<std::string> terms;
  std::set<std::size_t> marks;
  std::size_t at = 0;
  for (const auto& piece : snippet.pieces) {
    if (piece.marked) {
      const auto spoken = engine.spoken(piece.text, weights);
      CAPTURE(piece.text);
      CHECK(!spoken.empty());
      terms.insert(spoken.begin(), spoken.end());
      marks.insert(at);
    }
    at += piece.text.size();
  }
  for (const auto& word : words_of(shown)) {
    if (!is_simple(word.text)) continue;
    CAPTURE(word.text);
    CHECK(marks.contains(word.begin) == !engine.spoken(word.text, weights).empty());
  }
  CHECK(sum(terms, weights) >= best_by_trying(text, weights, longest, engine) - 1e-9);
  if (marks.empty()) CHECK(!snippet.cut_before);
  return !marks.empty();
}

void check_snippets(const std::vector<Document>& documents, const std::vector<std::string>& queries,
                    const Reference& reference, std::vector<LocalSearch>& indexes, std::size_t longest) {
  Words engine;
  std::size_t made = 0;
  std::size_t marked = 0;
  for (const auto& query : queries) {
    CAPTURE(query);
    Weights weights;
    add_terms(reference.parse(query), reference.database(), weights);
    std::optional<std::vector<std::string>> first;
    for (auto& index : indexes) {
      CAPTURE(index.manifest().partitions.size());
      const auto answer = index.search(query, 5);
      REQUIRE_MESSAGE(answer.has_value(), to_string(answer.error()));
      const auto snippets = index.snippets(*answer, {.length_bytes = longest});
      REQUIRE_MESSAGE(snippets.has_value(), to_string(snippets.error()));
      REQUIRE(snippets->size() == answer->hits.size());
      if (first) {
        CHECK(*snippets == *first);
        continue;
      }
      first = *snippets;
      for (std::size_t i = 0; i < snippets->size(); ++i) {
        const Document& document = documents[answer->hits[i].scored.document.value - 1];
        ++made;
        marked += check_snippet((*snippets)[i], document.text, weights, longest, engine) ? 1 : 0;
      }
    }
  }
  CHECK(made > queries.size());
  CHECK(marked > made / 2);
}

Document document(const std::string& id, const std::string& title, const std::string& text) {
  return {.id = id, .title = title, .url = {}, .text = text, .facets = {{"section", {"editors"}}}};
}

}  // namespace

TEST_CASE("Snippets of 200 queries of every shape are what trying every passage finds, in 1, 4 and 16 partitions") {
  const auto documents = small_collection(1200, 81);
  const TemporaryDirectory directory;
  std::vector<LocalSearch> indexes;
  for (const std::uint32_t partitions : {1u, 4u, 16u}) {
    const auto index = directory.path() / std::to_string(partitions);
    build_small(documents, index, partitions);
    indexes.push_back(LocalSearch::open(index).value());
  }
  const auto settings = settings_like(indexes.front().manifest());
  VectorReader reader(documents);
  Reference::build(reader, directory.path() / "reference", settings);
  const Reference reference(directory.path() / "reference", settings);
  QueryMixture mixture(material_of(documents, 82), 83);
  std::vector<std::string> queries;
  while (queries.size() < 200) queries.push_back(mixture.next());
  check_snippets(documents, queries, reference, indexes, 100);
}

TEST_CASE("Snippets of 200 queries on SciFact are what trying every passage finds, in 1, 4 and 16 partitions") {
  // A part of it, for the time it takes.
  const auto scifact = read_scifact(400);
  if (!scifact) return;
  const auto& documents = *scifact;
  const TemporaryDirectory directory;
  std::vector<LocalSearch> indexes;
  for (const std::uint32_t partitions : {1u, 4u, 16u}) {
    const auto index = directory.path() / std::to_string(partitions);
    build_small(documents, index, partitions);
    indexes.push_back(LocalSearch::open(index).value());
  }
  const auto settings = settings_like(indexes.front().manifest());
  VectorReader reader(documents);
  Reference::build(reader, directory.path() / "reference", settings);
  const Reference reference(directory.path() / "reference", settings);
  Random random(84);
  QueryMixture mixture(material_of(reference, random), 85);
  std::vector<std::string> queries;
  while (queries.size() < 200) queries.push_back(mixture.next());
  check_snippets(documents, queries, reference, indexes, 240);
}

TEST_CASE("Words are marked as the query means them") {
  const TemporaryDirectory directory;
  build_small({document("a", "Editing", "The editor edits <b>editions</b> & libraries of the editors' library."),
               document("b", "Other", "An editor without books"), document("c", "Empty text", "")},
              directory.path(), 2);
  auto search = LocalSearch::open(directory.path()).value();
  const auto snippet_of_first = [&](const std::string& query) {
    const auto answer = search.search(query, 1);
    REQUIRE_MESSAGE(answer.has_value(), to_string(answer.error()));
    REQUIRE(answer->hits.size() == 1);
    return search.snippets(*answer).value().front();
  };
  CHECK(snippet_of_first("libraries") ==
        "The editor edits &lt;b&gt;editions&lt;/b&gt; &amp; <b>libraries</b> of the editors&#39; <b>library</b>.");
  CHECK(snippet_of_first("title:edits") ==
        "The editor <b>edits</b> &lt;b&gt;<b>editions</b>&lt;/b&gt; &amp; libraries of the editors&#39; library.");
  CHECK(snippet_of_first("\"the editor\"") ==
        "<b>The</b> <b>editor</b> edits &lt;b&gt;editions&lt;/b&gt; &amp; libraries of <b>the</b> editors&#39; library.");
  CHECK(snippet_of_first("lib*") ==
        "The editor edits &lt;b&gt;editions&lt;/b&gt; &amp; <b>libraries</b> of the editors&#39; <b>library</b>.");
  // What is only excluded is not marked, here the words of a phrase; facets are no words.
  CHECK(snippet_of_first("section:editors books -\"editor books\"") == "An editor without <b>books</b>");
  CHECK(snippet_of_first("section:editors -editor") == "");
  CHECK(snippet_of_first("empty") == "");
}

TEST_CASE("Snippets are stopped between documents, and what is no document is not found") {
  const TemporaryDirectory directory;
  const Manifest manifest = build_small({document("a", "One", "text"), document("b", "Two", "text")}, directory.path(), 1);
  const auto statistics = CollectionStatistics::open(directory.path(), manifest).value();
  const auto partition = PartitionSearcher::open(directory.path(), manifest, PartitionId{0}).value();
  const auto query = PreparedQuery::prepare(plan_query("text", statistics).value()).value();
  const std::atomic<bool> stop = true;
  const auto stopped = make_snippets(partition, query, {DocumentNumber{1}}, {}, &stop);
  REQUIRE(!stopped.has_value());
  CHECK(stopped.error().code == Errc::cancelled);
  for (const std::uint32_t number : {0u, 3u, 0xffffffffu}) {
    const auto missing = make_snippets(partition, query, {DocumentNumber{1}, DocumentNumber{number}}, {}, nullptr);
    REQUIRE(!missing.has_value());
    CHECK(missing.error().code == Errc::not_found);
  }
  CHECK(make_snippets(partition, query, {DocumentNumber{2}, DocumentNumber{1}}, {}, nullptr).value() ==
        std::vector<std::string>{"<b>text</b>", "<b>text</b>"});
  CHECK(make_snippets(partition, query, {}, {}, nullptr).value().empty());
}

}  // namespace hedgerow::test
