#include <doctest/doctest.h>

#include <xapian.h>

#include "index/query.hpp"
#include "index/searcher.hpp"
#include "index/statistics.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

std::vector<Document> four_documents() {
  return {{.id = "a", .title = "Running dogs", .url = "", .text = "a dog runs after the cat", .facets = {}},
          {.id = "b", .title = "Cats", .url = "", .text = "cats sleep", .facets = {}},
          {.id = "c", .title = "Dog", .url = "", .text = "the dog sleeps near the cat", .facets = {}},
          {.id = "d", .title = "Bird", .url = "", .text = "sings", .facets = {}}};
}

struct Planner {
  TemporaryDirectory directory;
  Manifest manifest = build_small(four_documents(), directory.path(), 3);
  CollectionStatistics statistics = CollectionStatistics::open(directory.path(), manifest).value();

  result<QueryPlan> plan(std::string_view text) const {
    return plan_query(text, statistics);
  }
};

}  // namespace

TEST_CASE("A plan names its distinct terms in byte order with their document frequencies in the whole collection") {
  const Planner planner;
  const auto plan = planner.plan("dog cat dog unheard");
  REQUIRE(plan.has_value());
  REQUIRE(plan->terms.size() == 4);
  // The whole query as a name, which counts as that of one document whether there is one or not.
  CHECK(plan->terms[0].term == "XNdog cat dog unheard");
  CHECK(plan->terms[0].document_frequency == 1);
  // Stems, by hand: "dog(s)" stands in a and c, "cat(s)" in a, b and c.
  CHECK(plan->terms[1].term == "Zcat");
  CHECK(plan->terms[1].document_frequency == 3);
  CHECK(plan->terms[2].term == "Zdog");
  CHECK(plan->terms[2].document_frequency == 2);
  CHECK(plan->terms[3].term == "Zunheard");
  CHECK(plan->terms[3].document_frequency == 0);
  CHECK(plan->collection_documents == 4);
  CHECK(plan->generation == Generation{1});
  // Every word counts twice, as it is and as its stem: 15 of the texts, and 5 of the titles,
  // which count by their weight and once more for their field. And two names to each document.
  const double title_weight = planner.manifest.title_weight;
  CHECK(plan->average_length == doctest::Approx(2.0 * (15 + 5 * (title_weight + 1)) / 4 + 2));
}

TEST_CASE("The statistics say which partitions hold a term, and how often") {
  const Planner planner;
  std::uint32_t sum = 0;
  PartitionId last{};
  for (const auto& [partition, frequency] : planner.statistics.partitions_of("Zcat")) {
    CHECK((sum == 0 || last < partition));
    CHECK(partition.value < 3);
    last = partition;
    sum += frequency;
  }
  CHECK(sum == 3);
  CHECK(planner.statistics.partitions_of("unheard").empty());
  CHECK(planner.statistics.partitions_of(std::string(5000, 'x')).empty());
  CHECK(planner.statistics.document_frequency("") == 0);
  CHECK(planner.statistics.document_frequency("XGUARD") == 0);
}

TEST_CASE("What cannot be searched for is an error that says so, and nothing typed is an exception") {
  const Planner planner;
  struct Row {
    std::string text;
    bool plan;
  };
  const Row rows[] = {
      {"", false},
      {"   \t\n", false},
      {"-dog", false},
      {"-dog -cat", false},
      {"-\"dog runs\"", false},
      {"-(dog cat)", false},
      {"cat (-dog)", false},
      {"cat -dog", true},
      {"cat \"-dog\"", true},
      {"near-by", true},
      {"--dog", true},
      {"NOT dog", false},
      {"(-dog) OR (-cat)", false},
      {"cat AND (-dog)", false},
      {"AND", true},  // alone, the parser takes operators in capitals for words or refuses them: either is fine
      {"!!! ... ???", false},
      {"\xf0\x9f\x90\x95", false},  // an emoji is no word
      {"dog \xf0\x9f\x90\x95", true},
      {"\"dog runs", true},  // an unbalanced quote
      {"\"", false},
      {"((((dog", true},
      {"dog))))", true},
      {"+dog -cat", true},
      {"dog AND", false},
      {"dog OR", false},
      {"dog XOR cat", false},
      {"\xff\xfe dog", true},  // not UTF-8
      {std::string("dog\0cat", 7), true},
      {"title:dog", true},
      {"dog*", true},
      {"dog NEAR cat", true},
      {std::string(4000, '('), false},
      {std::string(2000, '(') + "dog" + std::string(2000, ')'), true},
      {std::string(4000, '-'), false},
      {std::string(4000, '"'), false},
      {std::string(4000, 'x'), true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text.substr(0, 30));
    const auto plan = planner.plan(row.text);
    if (row.text == "AND") {
      if (!plan) CHECK(plan.error().code == Errc::invalid_argument);
      continue;
    }
    if (!plan) CAPTURE(plan.error().context);
    CHECK(plan.has_value() == row.plan);
    if (!plan) {
      CHECK(plan.error().code == Errc::invalid_argument);
      CHECK(!plan.error().context.empty());
    } else {
      CHECK(PreparedQuery::prepare(*plan).has_value());
    }
  }
}

TEST_CASE("Beyond the limits, the error states the bound") {
  const Planner planner;
  const auto longer = planner.plan(std::string(4097, 'x'));
  REQUIRE(!longer);
  CHECK(longer.error().code == Errc::too_large);
  CHECK(longer.error().context.find("4096") != std::string::npos);
  CHECK(planner.plan(std::string(4096, 'x')).has_value());

  std::string words;
  for (int i = 0; i < 128; ++i) words += "w" + std::to_string(i) + " ";
  CHECK(planner.plan(words).has_value());
  const auto more = planner.plan(words + "one");
  REQUIRE(!more);
  CHECK(more.error().code == Errc::too_large);
  CHECK(more.error().context.find("128") != std::string::npos);
}

TEST_CASE("A prepared query tells how many postings it may read: of positions tenfold, of a share its share") {
  const Planner planner;
  const auto postings = [&](std::string_view text) { return PreparedQuery::prepare(planner.plan(text).value())->postings(1); };
  // By hand: dog(s) in 2 documents, cat(s) in 3; "dog" itself in 2, "sleeps" in 1; the whole query as a name counts as 1.
  CHECK(postings("dog cat") == 6);
  CHECK(postings("+dog +cat") == 5);
  CHECK(postings("\"dog sleeps\"") == 31);
  CHECK(postings("unheard words") == 1);
  CHECK(PreparedQuery::prepare(planner.plan("dog cat").value())->postings(0.25) == 1.5);
}

TEST_CASE("A query whose words occur nowhere is a plan without hits") {
  const Planner planner;
  const auto plan = planner.plan("unheard \"of words\" " + std::string(300, 'q'));
  REQUIRE(plan.has_value());
  const auto prepared = PreparedQuery::prepare(*plan);
  REQUIRE(prepared.has_value());
  for (std::uint32_t p = 0; p < 3; ++p) {
    auto searcher = PartitionSearcher::open(planner.directory.path(), planner.manifest, PartitionId{p});
    REQUIRE(searcher.has_value());
    const auto found = searcher->search(*prepared, 10, 0, nullptr);
    REQUIRE(found.has_value());
    CHECK(found->hits.empty());
    CHECK(found->matches == 0);
    CHECK(found->matches_exact);
  }
}

}  // namespace hedgerow::test
