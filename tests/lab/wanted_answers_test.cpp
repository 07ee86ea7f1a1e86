#include "lab/wanted_answers.hpp"

#include <doctest/doctest.h>

#include "lab/answer_quality.hpp"

using namespace hedgerow::lab;
using doctest::Approx;

TEST_CASE("recall is the share of the complete top k among the first k, each document once, in any order") {
  WantedAnswers wanted(3, 4);
  wanted.set_complete(0, {"a", "b", "c", "d", "e"});  // of which four are the top
  wanted.set_complete(1, {"a"});
  wanted.set_complete(2, {});
  CHECK(wanted.recall(0, {"d", "c", "b", "a"}) == 1.0);
  CHECK(wanted.recall(0, {"a", "x", "b"}) == 0.5);
  CHECK(wanted.recall(0, {"a", "a", "a", "a"}) == 0.25);
  CHECK(wanted.recall(0, {"e"}) == 0.0);
  CHECK(wanted.recall(0, {}) == 0.0);
  CHECK(wanted.recall(0, {"x", "y", "z", "u", "a"}) == 0.0);  // its fifth is not among its first four
  CHECK(wanted.recall(1, {"z", "a"}) == 1.0);
  CHECK(!wanted.recall(2, {"a"}));  // of nothing there is no share
  CHECK(wanted.any_complete());
}

TEST_CASE("a query of which nothing is known is not measured") {
  WantedAnswers wanted(2, 10);
  wanted.set_judgements(1, {{"a", 1}});
  CHECK(!wanted.any_complete());
  CHECK(!wanted.wants_documents(0));
  CHECK(wanted.wants_documents(1));
  CHECK(!wanted.recall(0, {"a"}));
  CHECK(!wanted.ndcg_10(0, {"a"}));
  CHECK(!wanted.recall(1, {"a"}));
  CHECK(*wanted.ndcg_10(1, {"a"}) == Approx(1));
  CHECK(*wanted.ndcg_10(1, {"b", "a"}) == Approx(0.6309297535714575));  // 1 / log2(3)
  CHECK(*wanted.ndcg_10(1, {}) == 0);
}

namespace {

AnswerMeasures measures_of(double completeness, double recall, double ndcg) {
  AnswerMeasures out;
  out.completeness = out.completeness_in_body = completeness;
  out.estimated_recall = recall;
  out.recall = recall;
  out.ndcg_10 = ndcg;
  return out;
}

}  // namespace

TEST_CASE("means are of answers, and of all queries with those that failed as 0") {
  AnswerQuality quality;
  quality.record(measures_of(1, 1, 0.8), true);
  quality.record(measures_of(0.5, 0.4, 0.4), true);
  AnswerMeasures failed;
  failed.recall = failed.ndcg_10 = 0;
  quality.record(failed, false);
  quality.record({}, true);  // an answer of which nothing is known
  nlohmann::ordered_json out;
  quality.add_to(out, 10);
  CHECK(out["completeness"]["answers"] == 2);
  CHECK(out["completeness"]["mean"].get<double>() == Approx(0.75));
  CHECK(out["completeness"]["complete_share_of_all_queries"].get<double>() == Approx(0.25));
  CHECK(out["recall"]["k"] == 10);
  CHECK(out["recall"]["answers"] == 2);
  CHECK(out["recall"]["mean"].get<double>() == Approx(0.7));
  CHECK(out["recall"]["min"].get<double>() == Approx(0.4));
  CHECK(out["recall"]["whole_share"].get<double>() == Approx(0.5));
  CHECK(out["recall"]["mean_of_all_queries"].get<double>() == Approx(1.4 / 3));
  CHECK(out["recall"]["complete_but_less"] == 0);
  CHECK(out["ndcg"]["queries"] == 3);
  CHECK(out["ndcg"]["mean"].get<double>() == Approx(0.6));
  CHECK(out["ndcg"]["mean_of_all_queries"].get<double>() == Approx(0.4));
  CHECK(quality.to_text(10).find("recall@10: mean 0.7000") != std::string::npos);
}

TEST_CASE("an answer that says it is complete and lacks documents of the reference is told") {
  AnswerQuality quality;
  quality.record(measures_of(1, 0.9, 1), true);
  nlohmann::ordered_json out;
  quality.add_to(out, 10);
  CHECK(out["recall"]["complete_but_less"] == 1);
  CHECK(quality.to_text(10).find("same generation") != std::string::npos);
}

TEST_CASE("what nobody asked for is not in the report") {
  AnswerQuality quality;
  quality.record({}, true);
  nlohmann::ordered_json out;
  quality.add_to(out, 10);
  CHECK(out == nlohmann::ordered_json({{"completeness", {{"answers", 0}}}}));
  CHECK(quality.to_text(10) == "");
}
