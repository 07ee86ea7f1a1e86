#include <doctest/doctest.h>

#include <xapian.h>

#include <atomic>
#include <future>
#include <set>
#include <thread>

#include "index/facets.hpp"
#include "index/global_weight.hpp"
#include "index/guard.hpp"
#include "index/local_search.hpp"
#include "index/partition_query.hpp"
#include "query_mixture.hpp"
#include "reference.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

using namespace std::string_literals;

namespace {

struct OnePartition {
  explicit OnePartition(const std::vector<Document>& documents)
      : manifest(build_small(documents, directory.path(), 1)),
        statistics(CollectionStatistics::open(directory.path(), manifest).value()),
        searcher(PartitionSearcher::open(directory.path(), manifest, PartitionId{0}).value()) {}

  PreparedQuery prepare(const std::string& query) const {
    return PreparedQuery::prepare(plan_query(query, statistics).value()).value();
  }

  TemporaryDirectory directory;
  Manifest manifest;
  CollectionStatistics statistics;
  PartitionSearcher searcher;
};

std::vector<std::uint32_t> numbers(const std::vector<ScoredDocument>& hits) {
  std::vector<std::uint32_t> documents;
  for (const auto& hit : hits) documents.push_back(hit.document.value);
  return documents;
}

Document document(const std::string& id, const std::string& text) {
  return {.id = id, .title = "", .url = "", .text = text, .facets = {}};
}

}  // namespace

TEST_CASE("Equal scores rank by document number, at every k") {
  std::vector<Document> documents;
  for (int i = 0; i < 400; ++i) documents.push_back(document("id" + std::to_string(i), i % 2 == 0 ? "sun moon" : "sun rain"));
  OnePartition index(documents);
  for (const std::uint32_t k : {1u, 9u, 10u, 11u, 12u, 100u, 199u, 200u, 300u}) {
    const auto found = index.searcher.search(index.prepare("moon sun"), k, 0, nullptr);
    REQUIRE(found.has_value());
    REQUIRE(found->hits.size() == k);
    // First those with both words (the even indexes, numbers 1, 3, 5, …), then the rest.
    for (std::uint32_t i = 0; i < k; ++i) {
      CHECK(found->hits[i].document.value == (i < 200 ? 2 * i + 1 : 2 * (i - 200) + 2));
    }
  }
}

TEST_CASE("A guard is never a hit, never fetched and never counted") {
  const auto documents = small_collection(300, 61);
  OnePartition index(documents);
  CHECK(index.searcher.documents() == 300);
  QueryMixture mixture(material_of(documents, 62), 63);
  for (int i = 0; i < 130; ++i) {
    const std::string query = mixture.next();
    CAPTURE(query);
    // More than there are, so everything that matches comes.
    const auto found = index.searcher.search(index.prepare(query), 1000, 0, nullptr);
    REQUIRE(found.has_value());
    std::set<std::uint32_t> distinct;
    for (const auto& hit : found->hits) {
      CHECK(hit.document.value >= 1);
      CHECK(hit.document.value <= 300);
      CHECK(hit.score >= 0);
      distinct.insert(hit.document.value);
    }
    CHECK(distinct.size() == found->hits.size());
    CHECK(found->matches_exact);
    CHECK(found->matches == found->hits.size());
  }
  for (const std::uint32_t number : {0u, 301u, 302u, 0xffffffffu, 0xffffffffu - guard::front + 1}) {
    const auto fetched = index.searcher.fetch({DocumentNumber{number}});
    REQUIRE(!fetched);
    CHECK(fetched.error().code == Errc::not_found);
  }
}

TEST_CASE("A fetched document is the one that was indexed") {
  auto documents = small_collection(50, 71);
  documents[6].facets = {{"kind", {"even", "odd"}}};
  documents[6].title = "Ünï\"cöde\" \\ and\ttabs";
  documents[7].text = "big " + std::string(3 << 20, 'y') + "é end";
  documents[8].title = "x" + std::string(1500, 'y') + std::string("é") + std::string(1500, 'z');
  documents[9].title = "x" + std::string(2046, 'y') + "é";  // the bound falls into its last character
  documents[9].url = "http://example.org/" + std::string(3000, 'u');
  OnePartition index(documents);
  const auto fetched = index.searcher.fetch(
      {DocumentNumber{7}, DocumentNumber{1}, DocumentNumber{8}, DocumentNumber{9}, DocumentNumber{10}});
  REQUIRE(fetched.has_value());
  REQUIRE(fetched->size() == 5);
  CHECK((*fetched)[3].title == documents[8].title.substr(0, 2048));
  CHECK((*fetched)[4].title == "x" + std::string(2046, 'y'));
  CHECK((*fetched)[4].url.empty());
  CHECK((*fetched)[0].id == documents[6].id);
  CHECK((*fetched)[0].title == documents[6].title);
  CHECK((*fetched)[0].url == documents[6].url);
  CHECK((*fetched)[0].text == documents[6].text);
  CHECK((*fetched)[0].facets_json == R"({"kind":["even","odd"]})");
  CHECK((*fetched)[1].id == documents[0].id);
  for (const std::uint32_t number : {1, 7, 8, 9, 10}) {
    const auto whole = index.searcher.fetch({DocumentNumber{number}});
    const auto shown = index.searcher.fetch_shown(DocumentNumber{number});
    REQUIRE(shown.has_value());
    CHECK(shown->id == whole->front().id);
    CHECK(shown->title == whole->front().title);
    CHECK(shown->url == whole->front().url);
  }
  // A text of many MB is kept up to a bound, and found by its last word all the same.
  CHECK((*fetched)[2].text == documents[7].text.substr(0, longest_stored_text));
  const auto found = index.searcher.search(index.prepare("+big +end"), 10, 0, nullptr);
  REQUIRE(found.has_value());
  CHECK(numbers(found->hits) == std::vector<std::uint32_t>{8});
}

TEST_CASE("A local search shows of its hits what fetching them gives, in their order") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(300, 31);
  build_small(documents, directory.path(), 3);
  auto search = LocalSearch::open(directory.path()).value();
  const auto found = search.search("kebat lobats", 20).value();
  REQUIRE(found.hits.size() > 3);
  const auto whole = search.fetch(found.hits).value();
  const auto shown = search.fetch_shown(found.hits).value();
  REQUIRE(shown.size() == whole.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    CHECK(shown[i].id == documents[found.hits[i].scored.document.value - 1].id);
    CHECK(shown[i].id == whole[i].id);
    CHECK(shown[i].title == whole[i].title);
    CHECK(shown[i].url == whole[i].url);
  }
}

TEST_CASE("What a list shows of a document comes back as it was stored, and of anything else it is corrupt") {
  Document document;
  document.id = "i\0d"s;
  document.title = "a title";
  document.url = "http://example.org/";
  const std::string value = encode_shown_document(document);
  CHECK(value == "\3\0\0\0\7\0\0\0i\0da titlehttp://example.org/"s);
  const auto shown = decode_shown_document(value);
  REQUIRE(shown.has_value());
  CHECK(shown->id == document.id);
  CHECK(shown->title == document.title);
  CHECK(shown->url == document.url);
  const auto nothing = decode_shown_document(encode_shown_document({}));
  REQUIRE(nothing.has_value());
  CHECK((nothing->id.empty() && nothing->title.empty() && nothing->url.empty()));
  for (const std::string& broken : {""s, value.substr(0, 7), value.substr(0, 17), "\xff\xff\xff\xff\xff\xff\xff\xffid"s}) {
    CAPTURE(broken);
    const auto refused = decode_shown_document(broken);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == Errc::corrupt);
  }
}

TEST_CASE("A document whose data is not the index's is corrupt") {
  const std::string shown = encode_shown_document({});
  CHECK(decode_stored_document(shown, R"({"text":"t","facets":{}})").has_value());
  for (const char* data : {"", "[]", "7", "{}", R"({"text":"t"})", R"({"text":1,"facets":{}})", R"({"text":"t","facets":{})"}) {
    CAPTURE(data);
    CHECK(decode_stored_document(shown, data).has_error());
    CHECK(decode_stored_text(data).has_error());
  }
}

TEST_CASE("A score threshold leaves out only what ranks below it, and ties with it stay") {
  const auto documents = small_collection(1200, 81);
  OnePartition index(documents);
  QueryMixture mixture(material_of(documents, 82), 83);
  int shortened = 0;
  for (int i = 0; i < 260; ++i) {
    const std::string query = mixture.next();
    CAPTURE(query);
    const PreparedQuery prepared = index.prepare(query);
    const auto all = index.searcher.search(prepared, 2000, 0, nullptr);
    REQUIRE(all.has_value());
    for (const std::size_t rank : {0u, 1u, 4u, 20u, 90u}) {
      if (rank >= all->hits.size()) break;
      const ScoredDocument bar = all->hits[rank];
      const auto above = index.searcher.search(prepared, 100, bar.score, nullptr);
      REQUIRE(above.has_value());
      // Everything that does not rank behind the bar by its score must be there, in order.
      std::size_t needed = 0;
      while (needed < std::min<std::size_t>(all->hits.size(), 100) &&
             static_cast<float>(all->hits[needed].score) >= static_cast<float>(bar.score)) {
        ++needed;
      }
      REQUIRE(above->hits.size() >= needed);
      for (std::size_t h = 0; h < above->hits.size(); ++h) {
        REQUIRE(above->hits[h].document == all->hits[h].document);
        REQUIRE(above->hits[h].score == doctest::Approx(all->hits[h].score).epsilon(1e-12));
      }
      shortened += above->hits.size() < std::min<std::size_t>(all->hits.size(), 100) ? 1 : 0;
    }
  }
  CHECK(shortened > 300);
}

TEST_CASE("The number of matches is the same with and without a threshold, unless it is known exactly without") {
  const auto documents = small_collection(1500, 85, 60);
  OnePartition index(documents);
  QueryMixture mixture(material_of(documents, 86), 87);
  for (int i = 0; i < 260; ++i) {
    const std::string query = mixture.next();
    CAPTURE(query);
    const PreparedQuery prepared = index.prepare(query);
    const auto free = index.searcher.search(prepared, 10, 0, nullptr);
    REQUIRE(free.has_value());
    if (free->matches_exact) {
      const auto everything = index.searcher.search(prepared, 2000, 0, nullptr);
      CHECK(free->matches == everything->hits.size());
    }
    if (free->hits.size() < 10) {
      CHECK(free->matches_exact);
      CHECK(free->matches == free->hits.size());
      continue;
    }
    const auto bound = index.searcher.search(prepared, 10, free->hits[0].score, nullptr);
    REQUIRE(bound.has_value());
    if (bound->matches_exact == free->matches_exact) CHECK(bound->matches == free->matches);
    CHECK(free->matches <= 1500);
  }
}

TEST_CASE("What scores nothing is found in the order of the collection behind whatever scores, in any number of partitions") {
  // 600 documents: every second is "even", every fifth has the word "rare", every seventh a year.
  std::vector<Document> documents;
  for (int i = 0; i < 600; ++i) {
    Document made = document("id" + std::to_string(i), i % 5 == 0 ? "rare common" : "common");
    made.facets["kind"] = {i % 2 == 0 ? "even" : "odd"};
    if (i % 7 == 0) made.facets["year"] = {std::to_string(2000 + i / 7)};
    documents.push_back(std::move(made));
  }
  // By hand: does it match, and does it score?
  struct Row {
    const char* query;
    bool (*matches)(int);
    bool (*scores)(int);
  };
  const auto never = [](int) { return false; };
  const auto rare = [](int i) { return i % 5 == 0; };
  const Row rows[] = {
      {"kind:even", [](int i) { return i % 2 == 0; }, never},
      {"kind:even kind:odd", [](int) { return true; }, never},
      {"kind:e* kind:od*", [](int) { return true; }, never},
      {"year:2010..2020", [](int i) { return i % 7 == 0 && i / 7 >= 10 && i / 7 <= 20; }, never},
      {"year:2010..", [](int i) { return i % 7 == 0 && i / 7 >= 10; }, never},
      {"kind:even year:..2050", [](int i) { return i % 14 == 0 && i / 7 <= 50; }, never},
      {"kind:even -rare", [](int i) { return i % 2 == 0 && i % 5 != 0; }, never},
      {"kind:even -year:2010..2020",
       [](int i) { return i % 2 == 0 && !(i % 7 == 0 && i / 7 >= 10 && i / 7 <= 20); }, never},
      {"rare OR kind:even", [](int i) { return i % 5 == 0 || i % 2 == 0; }, rare},
      {"rare OR year:2000..", [](int i) { return i % 5 == 0 || i % 7 == 0; }, rare},
      {"(rare OR kind:even) AND (rare OR year:2000..)", [](int i) { return i % 5 == 0 || i % 14 == 0; }, rare},
      {"(kind:even NOT rare) OR rare", [](int i) { return i % 5 == 0 || i % 2 == 0; }, rare},
      {"rare kind:even", [](int i) { return i % 10 == 0; }, rare},
      {"rare AND year:2000..", [](int i) { return i % 35 == 0; }, rare},
  };
  PlanSettings settings;
  settings.limits.shortest_prefix = 1;
  for (const std::uint32_t partitions : {1u, 3u, 16u}) {
    const TemporaryDirectory directory;
    build_small(documents, directory.path(), partitions);
    auto search = LocalSearch::open(directory.path(), settings).value();
    for (const Row& row : rows) {
      std::vector<std::uint32_t> expected;
      for (const bool scoring : {true, false}) {
        for (int i = 0; i < 600; ++i) {
          if (row.matches(i) && (row.scores(i) == scoring)) expected.push_back(static_cast<std::uint32_t>(i + 1));
        }
      }
      for (const std::uint32_t k : {1u, 3u, 10u, 130u, 600u}) {
        for (const std::uint32_t offset : {0u, 7u, 115u}) {
          CAPTURE(row.query);
          CAPTURE(partitions);
          CAPTURE(k);
          CAPTURE(offset);
          const auto answer = search.search(row.query, k, offset);
          REQUIRE(answer.has_value());
          std::vector<std::uint32_t> found;
          for (const auto& hit : answer->hits) found.push_back(hit.scored.document.value);
          const auto begin = expected.begin() + std::min<std::ptrdiff_t>(offset, std::ssize(expected));
          const auto end = begin + std::min<std::ptrdiff_t>(k, expected.end() - begin);
          REQUIRE(found == std::vector<std::uint32_t>(begin, end));
          if (answer->matches_exact) CHECK(answer->matches == expected.size());
          for (const auto& hit : answer->hits) {
            CHECK((hit.scored.score > 0) == row.scores(static_cast<int>(hit.scored.document.value) - 1));
          }
        }
      }
    }
  }
}

TEST_CASE("What stands in every document of a large partition filters, excludes and is counted like anything else") {
  // Enough for several chunks of a posting list, too few for words to be optional.
  constexpr std::uint32_t count = 4500;
  std::vector<Document> documents;
  for (std::uint32_t i = 0; i < count; ++i) {
    documents.push_back(document("id" + std::to_string(i), i % 5 == 0 ? "zebra stripes" : "zebra"));
    documents.back().facets = {{"lang", {"en"}}};
  }
  OnePartition index(documents);
  const auto found = [&](const std::string& query, std::uint32_t k) {
    const auto answer = index.searcher.search(index.prepare(query), k, 0, nullptr);
    REQUIRE_MESSAGE(answer.has_value(), query);
    return numbers(answer->hits);
  };
  const auto all = found("lang:en", count);
  REQUIRE(all.size() == count);
  for (std::uint32_t i = 0; i < count; ++i) REQUIRE(all[i] == i + 1);
  CHECK(found("stripes lang:en", count).size() == count / 5);
  CHECK(found("stripes -zebra", count).empty());
  CHECK(found("stripes NOT lang:en", count).empty());
  CHECK(found("lang:en -stripes", count).size() == count - count / 5);
  CHECK(found("stripes OR lang:en", count).size() == count);
  for (const char* query : {"zebra", "lang:en", "zebra OR stripes", "zebra AND lang:en"}) {
    const auto counted = count_facets(index.searcher, index.prepare(query), {"lang"}, {}, nullptr);
    REQUIRE_MESSAGE(counted.has_value(), query);
    CHECK((*counted)[0].counts == std::map<std::string, std::uint64_t>{{"en", count}});
  }
}

TEST_CASE("A stop flag ends a search that computes no weights") {
  std::vector<Document> documents;
  for (int i = 0; i < 400; ++i) {
    documents.push_back(document("id" + std::to_string(i), "word"));
    documents.back().facets["kind"] = {"same"};
    documents.back().facets["year"] = {"2000"};
  }
  OnePartition index(documents);
  // Set by the engine's own progress: a range that is asked for its first value sees the flag.
  std::atomic<bool> stop{true};
  const Xapian::Database database((index.directory.path() / index.manifest.partitions[0].file).string());
  const PartitionView view{database, 400, 400, &stop};
  for (const char* query : {"kind:same", "year:2000..", "kind:same year:2000..", "\"word word\" OR kind:same"}) {
    CAPTURE(query);
    const auto prepared = index.prepare(query);
    stop = false;
    const auto rewritten = rewrite_unscored(prepared.implementation(), view);
    REQUIRE(rewritten.has_value());
    Xapian::Enquire enquire(database);
    enquire.set_weighting_scheme(Xapian::BoolWeight());
    enquire.set_query(rewritten->query);
    const Stopper stopper(&stop);
    CHECK(enquire.get_mset(0, 500, nullptr, &stopper).size() >= 400);
    stop = true;
    CHECK_THROWS_AS(enquire.get_mset(0, 500, nullptr, &stopper), MatchStopped);
  }
}

TEST_CASE("A stop flag that is set ends the search with cancelled, and the searcher works afterwards") {
  const auto documents = small_collection(1500, 91);
  OnePartition index(documents);
  const PreparedQuery prepared = index.prepare("kebat balot bakeket seket \"banuket balot\"");
  const auto before = index.searcher.search(prepared, 10, 0, nullptr);
  REQUIRE(before.has_value());

  std::atomic<bool> stop{true};
  const auto stopped = index.searcher.search(prepared, 10, 0, &stop);
  REQUIRE(!stopped);
  CHECK(stopped.error().code == Errc::cancelled);

  // From another thread, in the middle of whatever is running: searches go on until one has been ended.
  stop = false;
  std::promise<void> first_done;
  std::thread other([&, started = first_done.get_future()] {
    started.wait();
    stop = true;
  });
  bool cancelled = false;
  for (int i = 0; i < 1'000'000 && !cancelled; ++i) {
    const auto found = index.searcher.search(prepared, 10, 0, &stop);
    if (i == 0) first_done.set_value();
    cancelled = !found;
    if (!found) CHECK(found.error().code == Errc::cancelled);
  }
  other.join();
  CHECK(cancelled);

  const auto after = index.searcher.search(prepared, 10, 0, nullptr);
  REQUIRE(after.has_value());
  CHECK(numbers(after->hits) == numbers(before->hits));
}

TEST_CASE("A match ends at the document at which the flag is set") {
  const auto documents = small_collection(1500, 93);
  OnePartition index(documents);
  // Sets the flag when the engine comes to the first document, so the flag is seen by the scoring or not at all.
  class Raiser final : public Xapian::PostingSource {
   public:
    explicit Raiser(std::atomic<bool>& flag) : flag_(flag) {}
    Xapian::doccount get_termfreq_min() const override { return 0; }
    Xapian::doccount get_termfreq_est() const override { return 1; }
    Xapian::doccount get_termfreq_max() const override { return 1; }
    void init(const Xapian::Database&) override { set_maxweight(0); }
    void next(double) override { flag_ = true; }
    void skip_to(Xapian::docid, double) override { flag_ = true; }
    bool at_end() const override { return true; }
    Xapian::docid get_docid() const override { return 0; }

   private:
    std::atomic<bool>& flag_;
  };
  Xapian::Database database((index.directory.path() / index.manifest.partitions[0].file).string());
  std::atomic<bool> stop{false};
  Raiser raiser(stop);
  Xapian::Enquire enquire(database);
  enquire.set_weighting_scheme(GlobalWeight(Bm25Parameters{}, 10, &stop));
  enquire.set_query(Xapian::Query(Xapian::Query::OP_OR, Xapian::Query("kebat"), Xapian::Query(&raiser)));
  CHECK_THROWS_AS(enquire.get_mset(0, 10), MatchStopped);
  stop = false;
  enquire.set_query(Xapian::Query("kebat"));
  CHECK(enquire.get_mset(0, 10).size() == 10);
}

TEST_CASE("A query planned for another generation is refused") {
  OnePartition index(small_collection(50, 95));
  QueryPlan plan = plan_query("kebat", index.statistics).value();
  plan.generation = Generation{2};
  const auto found = index.searcher.search(PreparedQuery::prepare(plan).value(), 10, 0, nullptr);
  REQUIRE(!found);
  CHECK(found.error().code == Errc::protocol);
}

TEST_CASE("Words longer than 64 bytes are left out, and the document is found by the others") {
  const std::string huge(65, 'h');
  const std::string fits(64, 'f');
  OnePartition index({document("a", "small " + huge + " " + fits), document("b", "other")});
  const auto found = [&](const std::string& query) {
    return numbers(index.searcher.search(index.prepare(query), 10, 0, nullptr).value().hits);
  };
  CHECK(found("small") == std::vector<std::uint32_t>{1});
  CHECK(found(fits) == std::vector<std::uint32_t>{1});
  CHECK(found(huge).empty());
}

TEST_CASE("No phrase reaches from the title into the text") {
  OnePartition index({{.id = "a", .title = "red fox", .url = "", .text = "jumps high", .facets = {}},
                      document("b", "fox jumps")});
  const auto found = index.searcher.search(index.prepare("\"fox jumps\""), 10, 0, nullptr);
  REQUIRE(found.has_value());
  CHECK(numbers(found->hits) == std::vector<std::uint32_t>{2});
}

}  // namespace hedgerow::test
