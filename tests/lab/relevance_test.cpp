#include "lab/relevance.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace hedgerow::lab;
using doctest::Approx;

namespace {

std::vector<std::string> filler(std::size_t count) {
  std::vector<std::string> documents;
  for (std::size_t i = 0; i < count; ++i) documents.push_back("other" + std::to_string(i));
  return documents;
}

}  // namespace

TEST_CASE("the measures are trec_eval's on the example that its Python interface publishes") {
  // https://github.com/cvangysel/pytrec_eval, README: map and ndcg of two queries as trec_eval computes them. Rankings
  // of three documents, so ndcg and ndcg_cut_10 are the same.
  const Judgements first{{"d1", 0}, {"d2", 1}, {"d3", 0}};
  const Measures one = measure({"d3", "d1", "d2"}, first);
  CHECK(one.ndcg_10 == Approx(0.5).epsilon(1e-12));
  CHECK(one.average_precision == Approx(0.3333333333333333).epsilon(1e-12));

  const Judgements second{{"d2", 1}, {"d3", 1}};
  const Measures two = measure({"d1", "d3", "d2"}, second);
  CHECK(two.ndcg_10 == Approx(0.6934264036172708).epsilon(1e-12));
  CHECK(two.average_precision == Approx(0.5833333333333333).epsilon(1e-12));
}

TEST_CASE("grades are gains, discounted by the logarithm of the rank, and the ideal is made of the judgements") {
  // By hand: ranks 1 to 4 hold grades 2, 0, 3, 1; the judgements hold 3, 2, 1, 1.
  const Judgements judgements{{"a", 2}, {"b", 0}, {"c", 3}, {"d", 1}, {"e", 1}};
  const Measures measures = measure({"a", "b", "c", "d"}, judgements);
  // 2/log2(2) + 3/log2(4) + 1/log2(5) = 2 + 1.5 + 0.430677 = 3.930677
  // 3/log2(2) + 2/log2(3) + 1/log2(4) + 1/log2(5) = 3 + 1.261860 + 0.5 + 0.430677 = 5.192537
  CHECK(measures.ndcg_10 == Approx(3.930677 / 5.192537).epsilon(1e-6));
  // Relevant at 1, 3 and 4 of four relevant ones: (1/1 + 2/3 + 3/4) / 4
  CHECK(measures.average_precision == Approx(29.0 / 48).epsilon(1e-12));
  CHECK(measures.recall_100 == 0.75);
  CHECK(measures.precision_10 == Approx(0.3));
  CHECK(measures.reciprocal_rank == 1);
}

TEST_CASE("each measure looks as far down as its name says, and MAP and MRR to the ranking's end") {
  const Judgements judgements{{"x", 1}};
  const auto at_rank = [&](std::size_t rank) {
    auto ranking = filler(rank - 1);
    ranking.push_back("x");
    return measure(ranking, judgements);
  };
  CHECK(at_rank(10).ndcg_10 == Approx(1 / std::log2(11.0)));
  CHECK(at_rank(10).precision_10 == Approx(0.1));
  CHECK(at_rank(11).ndcg_10 == 0);
  CHECK(at_rank(11).precision_10 == 0);
  CHECK(at_rank(11).recall_100 == 1);
  CHECK(at_rank(100).recall_100 == 1);
  CHECK(at_rank(101).recall_100 == 0);
  CHECK(at_rank(101).average_precision == Approx(1.0 / 101));
  CHECK(at_rank(200).reciprocal_rank == Approx(1.0 / 200));
}

TEST_CASE("more than ten relevant documents: the ideal of nDCG@10 is ten of them") {
  Judgements judgements;
  std::vector<std::string> ranking;
  for (int i = 0; i < 20; ++i) {
    ranking.push_back("d" + std::to_string(i));
    judgements[ranking.back()] = 1;
  }
  const Measures measures = measure(ranking, judgements);
  CHECK(measures.ndcg_10 == Approx(1).epsilon(1e-12));
  CHECK(measures.precision_10 == 1);
  ranking.resize(5);
  CHECK(measure(ranking, judgements).precision_10 == 0.5);
  CHECK(measure(ranking, judgements).recall_100 == 0.25);
}

TEST_CASE("unjudged documents, grades of 0 and below, and a document's second place are not relevant") {
  const Judgements judgements{{"good", 1}, {"zero", 0}, {"spam", -2}};
  const Measures best = measure({"good"}, judgements);
  CHECK(best == Measures{1, 1, 1, 0.1, 1});
  const Measures third = measure({"spam", "zero", "good", "good", "good"}, judgements);
  CHECK(third.ndcg_10 == Approx(0.5).epsilon(1e-12));
  CHECK(third.average_precision == Approx(1.0 / 3));
  CHECK(third.recall_100 == 1);
  CHECK(third.precision_10 == Approx(0.1));
  CHECK(measure({}, judgements) == Measures{});
  CHECK(measure({"zero", "spam"}, {{"zero", 0}, {"spam", -2}}) == Measures{});
}

TEST_CASE("the mean is over all judged queries, and those that found nothing count 0") {
  const std::vector<Measures> measured{{1, 0.5, 1, 0.1, 1}, {0.5, 0.25, 0.5, 0.2, 0.5}};
  const Measures mean = mean_of(measured, 4);
  CHECK(mean.ndcg_10 == Approx(0.375));
  CHECK(mean.average_precision == Approx(0.1875));
  CHECK(mean.recall_100 == Approx(0.375));
  CHECK(mean.precision_10 == Approx(0.075));
  CHECK(mean.reciprocal_rank == Approx(0.375));
  CHECK(mean_of({}, 0) == Measures{});
}
