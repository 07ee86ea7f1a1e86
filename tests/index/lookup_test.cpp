#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/sha256.hpp"
#include "index/builder.hpp"
#include "index/lookup.hpp"
#include "small_collection.hpp"
#include "temporary_directory.hpp"

namespace hedgerow::test {

namespace {

Document document(const std::string& id, const std::string& title, const std::string& text) {
  Document made;
  made.id = id;
  made.title = title;
  made.text = text;
  return made;
}

struct OnePartition {
  explicit OnePartition(const std::vector<Document>& documents, const std::string& stemmer = "english",
                        std::uint32_t title_weight = 1) {
    VectorReader reader(documents);
    BuildSettings settings;
    settings.directory = directory.path();
    settings.collection = "few";
    settings.partitions = 1;
    settings.threads = 1;
    settings.stemmer = stemmer;
    settings.title_weight = title_weight;
    manifest = build_index(reader, settings).value();
  }

  TemporaryDirectory directory;
  Manifest manifest;
  PartitionSearcher open() const {
    return PartitionSearcher::open(directory.path(), manifest, PartitionId{0}).value();
  }
};

std::vector<std::string> terms_of(const std::vector<DocumentTerm>& found) {
  std::vector<std::string> terms;
  for (const auto& term : found) terms.push_back(term.term);
  return terms;
}

}  // namespace

TEST_CASE("Where a document is placed never changes") {
  CHECK(partition_of("doc-1", 1) == PartitionId{0});
  // FNV-1a, mixed by SplitMix64, modulo the partitions: computed by a script of its own.
  CHECK(partition_of("doc-1", 16) == PartitionId{5});
  CHECK(partition_of("", 7) == PartitionId{4});
  CHECK(partition_of("hedgewars", 4096) == PartitionId{722});
  CHECK(partition_of("東京", 64) == PartitionId{8});  std::set<PartitionId> used;
  for (int i = 0; i < 1000; ++i) used.insert(partition_of(std::to_string(i), 16));
  CHECK(used.size() == 16);
}

TEST_CASE("Every document is found by its id in its partition, and in no other") {
  const TemporaryDirectory directory;
  const auto documents = small_collection(200, 301);
  const Manifest manifest = build_small(documents, directory.path(), 3);
  std::vector<PartitionSearcher> searchers;
  for (std::uint32_t p = 0; p < 3; ++p) {
    searchers.push_back(PartitionSearcher::open(directory.path(), manifest, PartitionId{p}).value());
  }
  for (std::uint32_t i = 0; i < documents.size(); ++i) {
    for (std::uint32_t p = 0; p < 3; ++p) {
      const auto found = find_document(searchers[p], documents[i].id).value();
      CHECK(found.has_value() == (partition_of(documents[i].id, 3) == PartitionId{p}));
      if (found) CHECK(*found == DocumentNumber{i + 1});
    }
  }
}

TEST_CASE("Ids are taken as they are: case, blanks, length, and what looks like a term or a hash") {
  const std::string longest(1024, 'x');
  const std::string disguised = "#" + sha256_of(longest);  // shares the term of the one before it
  const std::vector<std::string> ids{longest, disguised, "A", "a", "Qa", "a b", " a", "XGUARD", "ünï", "#", longest.substr(1)};
  std::vector<Document> documents;
  for (const auto& id : ids) documents.push_back(document(id, "title", "text"));
  const OnePartition index(documents);
  const auto partition = index.open();
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    CAPTURE(ids[i]);
    CHECK(find_document(partition, ids[i]).value() == DocumentNumber{i + 1});
  }
  for (const std::string& id : {std::string(), std::string("b"), std::string("q"), std::string("a "),
                                std::string(2000, 'x'), std::string("\0", 1), std::string(100'000, 'y')}) {
    const auto found = find_document(partition, id);
    REQUIRE(found.has_value());
    CHECK(!found->has_value());
  }
}

TEST_CASE("The terms of a document come by how often it holds them, ties by their bytes") {
  const OnePartition index({document("1", "Bees", "the bees and the hive, bees and honey"),
                            document("2", "Tea", "the tea and the pot")});
  const auto partition = index.open();
  const auto all = counted_terms(partition, DocumentNumber{1}, 100).value();
  CHECK(terms_of(all) == std::vector<std::string>{"Zbee", "Zand", "Zthe", "Zhive", "Zhoney"});
  CHECK(all[0].count == 3);
  CHECK(all[1].count == 2);
  CHECK(all[3].count == 1);
  CHECK(terms_of(counted_terms(partition, DocumentNumber{1}, 2).value()) == std::vector<std::string>{"Zbee", "Zand"});
  CHECK(counted_terms(partition, DocumentNumber{1}, 0).value().empty());
  for (const std::uint32_t nobody : {0u, 5u, 0xffffffffu}) {
    CHECK(counted_terms(partition, DocumentNumber{nobody}, 3).error().code == Errc::not_found);
  }
}

TEST_CASE("Title words weigh by the title's weight, and ids, facets and the title's own field are no subject") {
  auto one = document("bees", "honey", "hive hive");
  one.facets = {{"kind", {"insects"}}};
  const OnePartition index({one, document("2", "tea", "pot"), document("3", "hills", "rain")}, "english", 5);
  const auto found = counted_terms(index.open(), DocumentNumber{1}, 10).value();
  CHECK(terms_of(found) == std::vector<std::string>{"Zhoney", "Zhive"});
  CHECK(found[0].count == 5);
  CHECK(found[1].count == 2);
}

TEST_CASE("Where there are no stems, the words themselves are the subject") {
  const OnePartition unstemmed({document("1", "Bees", "the bees"), document("2", "Tea", "the tea")}, "none");
  CHECK(terms_of(counted_terms(unstemmed.open(), DocumentNumber{1}, 10).value()) ==
        std::vector<std::string>{"bees", "the"});
}

TEST_CASE("Of a document with very many words those that it holds often come first") {
  std::string text;
  for (int i = 0; i < 30'000; ++i) text += "w" + std::to_string(i) + "x ";
  text += "hive hive hive";
  const OnePartition index({document("1", "one", text), document("2", "two", "tea"), document("3", "three", "tea")});
  const auto found = counted_terms(index.open(), DocumentNumber{1}, 1).value();
  CHECK(terms_of(found) == std::vector<std::string>{"Zhive"});
}

}  // namespace hedgerow::test
