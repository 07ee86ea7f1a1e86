#include "root/estimated_recall.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"

namespace hedgerow::root {

namespace {

// Four partitions of 100 documents; the last one is missing.
RecallQuestion question() {
  RecallQuestion question;
  question.partition_documents = {100, 100, 100, 100};
  question.answered = {true, true, true, false};
  return question;
}

std::vector<double> equal_scores(std::size_t count, double score) { return std::vector<double>(count, score); }

}  // namespace

TEST_CASE("where every partition answered, all is there, and where none did, nothing") {
  auto asked = question();
  asked.words = {{2, {5, 5, 5, 5}, {0, 0, 0, 0}}};
  asked.scores = equal_scores(10, 2);
  asked.answered = {true, true, true, true};
  CHECK(estimated_recall(asked) == 1);
  asked.answered = {false, false, false, false};
  asked.scores.clear();
  CHECK(estimated_recall(asked) == 0);
}

TEST_CASE("of a query that fewer documents match than are wanted, recall is the share of its matches") {
  auto asked = question();
  asked.words = {{4, {2, 0, 1, 2}, {0, 0, 0, 0}}};
  asked.scores = {4.2, 4.1, 4.0};
  CHECK(estimated_recall(asked) == doctest::Approx(3.0 / 5));
  asked.words = {{4, {2, 0, 1, 0}, {0, 0, 0, 0}}};
  CHECK(estimated_recall(asked) == 1);
}

TEST_CASE("where words are spread as documents are, recall is the share of documents, for short queries and long ones") {
  for (std::size_t words = 1; words <= 8; ++words) {
    CAPTURE(words);
    auto asked = question();
    asked.partition_documents = {100, 200, 300, 400};
    for (std::size_t i = 0; i < words; ++i) asked.words.push_back({2, {10, 20, 30, 40}, {1, 2, 3, 4}});
    asked.scores = equal_scores(10, 3);
    CHECK(estimated_recall(asked) == doctest::Approx(0.6).epsilon(0.001));
  }
}

TEST_CASE("what no word of the query stands in is not missed") {
  for (std::size_t words = 1; words <= 8; ++words) {
    CAPTURE(words);
    auto asked = question();
    for (std::size_t i = 0; i < words; ++i) asked.words.push_back({2, {20, 20, 20, 0}, {2, 2, 2, 0}});
    asked.scores = equal_scores(10, 2.5);
    CHECK(estimated_recall(asked) == doctest::Approx(1));
  }
}

TEST_CASE("scores tell which words count: where the best hold the rare word, its spread decides") {
  // The common word evenly, the rare one mostly in the partition that is missing.
  const WordSpread common{1, {50, 50, 50, 50}, {0, 0, 0, 0}}, rare{4, {5, 5, 5, 15}, {0, 0, 0, 0}};
  auto asked = question();
  asked.words = {common, rare};
  asked.scores = equal_scores(10, 1);  // the common word alone
  CHECK(estimated_recall(asked) == doctest::Approx(0.75).epsilon(0.03));
  asked.scores = equal_scores(10, 5);  // both
  CHECK(estimated_recall(asked) == doctest::Approx(0.5).epsilon(0.03));
}

TEST_CASE("documents with the word in their title come first, wherever they are") {
  auto asked = question();
  asked.words = {{2, {20, 20, 20, 20}, {0, 0, 0, 6}}};
  asked.scores = equal_scores(10, 2);
  // Six of the ten are missing for sure, and of the other four one in 74 / 60 is here.
  CHECK(estimated_recall(asked) == doctest::Approx(4.0 / 74 * 60 / 10).epsilon(0.05));
}

TEST_CASE("a query of filters alone has the recall of the documents searched") {
  auto asked = question();
  asked.scores = equal_scores(10, 0);
  CHECK(estimated_recall(asked) == doctest::Approx(0.75));
}

TEST_CASE("the estimate is a share whatever numbers it is given") {
  Random random(5);
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    RecallQuestion asked;
    asked.k = 1 + random.below(20);
    const auto partitions = 1 + random.below(6);
    for (std::uint64_t p = 0; p < partitions; ++p) {
      asked.partition_documents.push_back(random.below(3) * random.below(1000));
      asked.answered.push_back(random.chance(0.6));
    }
    for (std::uint64_t words = random.below(9); words > 0; --words) {
      WordSpread word{random.uniform() * 12 - 0.5, {}, {}};
      for (const auto documents : asked.partition_documents) {
        word.documents.push_back(static_cast<std::uint32_t>(random.below(documents + 1)));
        word.titles.push_back(static_cast<std::uint32_t>(random.below(documents + 1)));  // even more than documents
      }
      asked.words.push_back(std::move(word));
    }
    for (std::uint64_t hits = random.below(asked.k + 1); hits > 0; --hits) asked.scores.push_back(random.uniform() * 30);
    std::sort(asked.scores.rbegin(), asked.scores.rend());
    const double recall = estimated_recall(asked);
    CHECK(recall >= 0);
    CHECK(recall <= 1);
  }
}

}  // namespace hedgerow::root
