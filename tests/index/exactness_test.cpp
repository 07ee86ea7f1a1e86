#include <doctest/doctest.h>

#include "comparison.hpp"
#include "index/local_search.hpp"
#include "index/synonyms.hpp"
#include "query_mixture.hpp"
#include "reference.hpp"
#include "small_collection.hpp"
#include "synonym_sample.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

constexpr Slice slices[] = {{1, 0}, {3, 0}, {10, 0}, {30, 0}, {10, 10}, {3, 7}, {1, 29}, {5, 500}};

// Each shape so many times.
std::vector<std::string> draw(QueryMixture& mixture, std::size_t times) {
  std::vector<std::string> queries;
  for (std::size_t i = 0; i < times * mixture.shapes(); ++i) queries.push_back(mixture.next());
  return queries;
}

// As a root would be set up, and the same for the reference.
struct Language {
  PlanSettings plan;
  LanguageSettings reference;
};

void check_exactness(const std::vector<Document>& documents, const std::vector<std::string>& queries,
                     const std::vector<std::uint32_t>& partition_counts, const Language& language = {}) {
  const TemporaryDirectory directory;
  const auto index_of = [&](std::uint32_t partitions) {
    return directory.path() / ("index-" + std::to_string(partitions));
  };
  ReferenceSettings settings;
  for (const auto partitions : partition_counts) {
    settings = settings_like(build_small(documents, index_of(partitions), partitions));
  }
  settings.language = language.reference;
  VectorReader reader(documents);
  Reference::build(reader, directory.path() / "reference", settings);
  const Reference reference(directory.path() / "reference", settings);
  std::vector<Expectation> expected;
  for (const auto& query : queries) {
    expected.push_back(expectation_of(reference.by_algebra(reference.parse(query)), documents.size()));
  }

  for (const std::uint32_t partitions : partition_counts) {
    CAPTURE(partitions);
    auto search = LocalSearch::open(index_of(partitions), language.plan);
    REQUIRE(search.has_value());
    for (std::size_t i = 0; i < queries.size(); ++i) {
      CAPTURE(queries[i]);
      for (const Slice slice : slices) {
        CAPTURE(slice.k);
        CAPTURE(slice.offset);
        const auto answer = search->search(queries[i], slice.k, slice.offset);
        REQUIRE_MESSAGE(answer.has_value(), to_string(answer.error()));
        CHECK(difference(ranked(*answer), expected[i], slice) == "");
      }
    }
  }
}

}  // namespace

TEST_CASE("Hits, order and scores do not depend on how the collection is cut") {
  const auto documents = small_collection(1500, 11);
  QueryMixture mixture(material_of(documents, 12), 13);
  check_exactness(documents, draw(mixture, 4), {1, 4, 16, 64});
}

TEST_CASE("Frequent words and synonyms mean the same however the collection is cut") {
  const auto documents = small_collection(600, 41);
  QueryMaterial material = material_of(documents, 42);
  const SynonymSample sample = sample_synonyms(material.words, 60, "english");
  REQUIRE(sample.words.size() > 10);
  material.synonym_words = sample.words;
  const auto synonyms = Synonyms::parse(sample.text, "synonyms", "english");
  REQUIRE(synonyms.has_value());
  Language language;
  language.plan.synonyms = &*synonyms;
  language.plan.frequent_words = {.share = 0.15, .smallest_collection = 100};
  language.reference.synonyms = sample.meaning;
  language.reference.frequent_share = 0.15;
  language.reference.smallest_collection_with_frequent_words = 100;
  QueryMixture mixture(material, 43);
  check_exactness(documents, draw(mixture, 4), {1, 7}, language);
}

TEST_CASE("What is like a document does not depend on how the collection is cut") {
  const auto documents = small_collection(600, 51);
  const TemporaryDirectory directory;
  VectorReader reader(documents);
  const auto settings = settings_like(build_small(documents, directory.path() / "1", 1));
  build_small(documents, directory.path() / "9", 9);
  Reference::build(reader, directory.path() / "reference", settings);
  const Reference reference(directory.path() / "reference", settings);
  for (const char* partitions : {"1", "9"}) {
    CAPTURE(partitions);
    auto search = LocalSearch::open(directory.path() / partitions);
    REQUIRE(search.has_value());
    for (Xapian::docid docid = 1; docid <= 600; docid += 7) {
      const std::string id = reference.id_of(docid);
      CAPTURE(id);
      const auto expected = expectation_of(reference.by_algebra(reference.similar_to(docid)), documents.size());
      for (const Slice slice : slices) {
        const auto answer = search->search_similar(id, slice.k, slice.offset);
        REQUIRE_MESSAGE(answer.has_value(), to_string(answer.error()));
        CHECK(difference(ranked(*answer), expected, slice) == "");
      }
    }
  }
}

TEST_CASE("A collection with fewer documents than partitions is searched like any other") {
  const auto documents = small_collection(20, 21);
  QueryMixture mixture(material_of(documents, 22), 23);
  check_exactness(documents, draw(mixture, 2), {1, 64});
}

TEST_CASE("Xapian, asked without pruning, agrees with the algebra that the tests compare with") {
  const auto documents = small_collection(800, 31);
  const TemporaryDirectory directory;
  VectorReader reader(documents);
  ReferenceSettings settings;
  settings.title_weight = 3;
  Reference::build(reader, directory.path() / "reference", settings);
  const Reference reference(directory.path() / "reference", settings);
  QueryMixture mixture(material_of(documents, 32), 33);
  int compared = 0;
  for (const std::string& query : draw(mixture, 8)) {
    // Phrases and ANDs below an OR or MAYBE are where Xapian itself goes wrong.
    const bool trusted = query.find_first_of("\"(") == std::string::npos && query.find("NEAR") == std::string::npos;
    if (!trusted) continue;
    CAPTURE(query);
    const Meaning meaning = reference.parse(query);
    const auto engine = reference.by_engine(meaning);
    const auto algebra = reference.by_algebra(meaning);
    REQUIRE(engine.size() == algebra.size());
    for (std::size_t rank = 0; rank < engine.size(); ++rank) {
      REQUIRE(engine[rank].document == algebra[rank].document);
      REQUIRE(engine[rank].score == doctest::Approx(algebra[rank].score).epsilon(1e-12));
    }
    ++compared;
  }
  CHECK(compared > 300);
}

}  // namespace hedgerow::test
