#include "tests/peers/comparison.hpp"

#include <doctest/doctest.h>

using namespace hedgerow;
using namespace hedgerow::peers;

namespace {

using Ids = std::vector<std::string>;

LoadRun steady_run(const char* engine, unsigned round, std::map<std::string, double> figures) {
  return {.engine = engine, .part = "steady", .round = round, .rate = 100, .figures = std::move(figures), .first_error = {}};
}

}  // namespace

TEST_CASE("A median is the middle one, or the mean of the two in the middle") {
  CHECK(median({}) == std::nullopt);
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({9, 1, 5, 7}) == 6);
}

TEST_CASE("An engine's figures are medians over its rounds, shares are of all queries of a round") {
  const std::vector<LoadRun> loads{steady_run("a", 1, {{"p50_ms", 1}, {"answered", 90}, {"queries", 100}}),
                                   steady_run("b", 1, {{"p50_ms", 50}, {"answered", 1}, {"queries", 1}}),
                                   steady_run("a", 2, {{"p50_ms", 3}, {"answered", 40}, {"queries", 80}}),
                                   steady_run("a", 3, {{"p50_ms", 2}, {"answered", 100}, {"queries", 100}})};
  const Rounds a(loads, "a", "steady");
  CHECK(a.figure("p50_ms") == 2);
  CHECK(a.share("answered") == 0.9);
  CHECK(a.figure("p99_ms") == std::nullopt);
  CHECK_FALSE(a.failed());
  CHECK(Rounds(loads, "c", "steady").empty());
  CHECK(Rounds(loads, "a", "other").empty());
}

TEST_CASE("An engine has failed where it answered nothing in most rounds") {
  auto bad = steady_run("a", 1, {{"answered", 0}, {"queries", 100}, {"p50_ms", 1}});
  bad.first_error = "unavailable: gone";
  const auto good = steady_run("a", 2, {{"answered", 100}, {"queries", 100}, {"p50_ms", 2}});
  const std::vector<LoadRun> mostly_bad{bad, good, bad}, mostly_good{bad, good, good};
  CHECK(Rounds(mostly_bad, "a", "steady").failed());
  CHECK(Rounds(mostly_bad, "a", "steady").figure("p50_ms") == std::nullopt);
  CHECK(Rounds(mostly_bad, "a", "steady").first_error() == "unavailable: gone");
  CHECK_FALSE(Rounds(mostly_good, "a", "steady").failed());
}

TEST_CASE("Agreement counts queries that both answered: as many hits, the other's ids, their order") {
  const FoundIds reference{"r", {Ids{"1", "2"}, Ids{"3", "4"}, Ids{"5"}, std::nullopt, Ids{"6"}}};
  const FoundIds found{"f", {Ids{"1", "2"}, Ids{"4", "3"}, Ids{"5", "9"}, Ids{"7"}, std::nullopt}};
  const Agreement same = agreement(found, reference);
  CHECK(same.compared == 3);
  CHECK(same.same_count == doctest::Approx(2.0 / 3));
  CHECK(same.same_order == doctest::Approx(1.0 / 3));
  CHECK(same.shared_ids == 1);
  CHECK(agreement(reference, found).shared_ids == doctest::Approx(5.0 / 6));
}

TEST_CASE("What is written as a result is read as the same, and anything else is an error") {
  const LoadRun written = steady_run("a", 2, {});
  Results results;
  REQUIRE(add_result(to_json(written, {{"p50_ms", 1.5}, {"queries", 3}, {"first_error", "x"}, {"settling", {{"queries", 1}}}}).dump(), results).has_value());
  REQUIRE(add_result(to_json(FoundIds{"b", {Ids{"1", "2"}, std::nullopt}}).dump(), results).has_value());
  REQUIRE(results.loads.size() == 1);
  const LoadRun& read = results.loads.front();
  CHECK(read.engine == "a");
  CHECK(read.part == "steady");
  CHECK(read.round == 2);
  CHECK(read.rate == 100);
  CHECK(read.figures == std::map<std::string, double>{{"p50_ms", 1.5}, {"queries", 3}});
  CHECK(read.first_error == "x");
  REQUIRE(results.answers.size() == 1);
  CHECK(results.answers.front().answers == std::vector<std::optional<Ids>>{Ids{"1", "2"}, std::nullopt});
  for (const char* text : {"", "{}", "[]", R"({"kind":"dream"})", R"({"kind":"load","engine":"a"})"}) {
    CAPTURE(text);
    CHECK(add_result(text, results).has_error());
  }
}
