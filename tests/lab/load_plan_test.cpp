#include "lab/load_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "../corpus/files.hpp"

using namespace hedgerow;
using namespace hedgerow::lab;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

struct PlanFiles {
  TemporaryFolder folder;
  std::string plain = folder.write("queries", "one two\nthree\n");
  std::string judged = folder.write("queries.tsv", "1\tmail \"server\"\n2\tthree\n3\tunjudged\n");
  std::string qrels = folder.write("qrels", "1 0 a 1\n2 0 b 2\n9 0 c 1\n");

  LoadPlan plan() const {
    LoadPlan plan;
    plan.load.target = "127.0.0.1:1";
    plan.load.rate = 10;
    plan.load.duration = 10s;
    plan.queries = plain;
    return plan;
  }
};

PreparedLoad prepared_of(const LoadPlan& plan) {
  auto result = prepare_load(plan);
  REQUIRE_MESSAGE(result.has_value(), to_string(result.error()));
  return std::move(*result);
}

Errc fault_of_plan(const LoadPlan& plan) {
  const auto result = prepare_load(plan);
  REQUIRE(result.has_error());
  return result.error().code;
}

}  // namespace

TEST_CASE("a plan's words become queries and parameters, in their order") {
  const PlanFiles files;
  auto plan = files.plan();
  plan.deadline = "50ms";
  plan.parameters = {"hedge=p95", "trace=a=b"};
  plan.depth = 20;
  const auto [settings, notes] = prepared_of(plan);
  CHECK(settings.queries == std::vector<std::string>{"one two", "three"});
  CHECK(settings.parameters == SearchParameters{{"deadline", "50ms"}, {"hedge", "p95"}, {"trace", "a=b"}, {"k", "20"}});
  CHECK(settings.rate == 10);
  CHECK(!settings.wanted);
  CHECK(notes.empty());
}

TEST_CASE("with judgements the judged queries alone are asked, by their words unless as typed, and the others are told") {
  const PlanFiles files;
  auto plan = files.plan();
  plan.queries = files.judged;
  plan.qrels = files.qrels;
  const auto by_words = prepared_of(plan);
  CHECK(by_words.settings.queries == std::vector<std::string>{"mail server", "three"});
  CHECK(by_words.notes == std::vector<std::string>{"passed over, without judgements: 1 query"});
  REQUIRE(by_words.settings.wanted);
  CHECK(*by_words.settings.wanted->ndcg_10(0, {"a"}) == doctest::Approx(1));
  CHECK(*by_words.settings.wanted->ndcg_10(1, {"a"}) == 0);
  plan.as_typed = true;
  CHECK(prepared_of(plan).settings.queries.front() == "mail \"server\"");
}

TEST_CASE("words that contradict each other, or measure nothing, are refused") {
  const PlanFiles files;
  const auto refused = [&](auto change) {
    auto plan = files.plan();
    change(plan);
    return fault_of_plan(plan);
  };
  CHECK(refused([](LoadPlan& p) { p.parameters = {"novalue"}; }) == Errc::invalid_argument);
  CHECK(refused([](LoadPlan& p) { p.parameters = {"=x"}; }) == Errc::invalid_argument);
  CHECK(refused([](LoadPlan& p) { p.parameters = {"k=5"}; p.depth = 5; }) == Errc::invalid_argument);
  CHECK(refused([](LoadPlan& p) { p.parameters = {"k=none"}; }) == Errc::invalid_argument);
  CHECK(refused([](LoadPlan& p) { p.as_typed = true; }) == Errc::invalid_argument);
  CHECK(refused([](LoadPlan& p) { p.queries = "/nowhere"; }) == Errc::io);
  CHECK(refused([&](LoadPlan& p) { p.qrels = files.qrels; }) == Errc::input);  // queries without ids
  const auto judged = [&](auto change) {
    return refused([&](LoadPlan& p) {
      p.queries = files.judged;
      p.qrels = files.qrels;
      change(p);
    });
  };
  CHECK(judged([](LoadPlan& p) { p.depth = 5; }) == Errc::invalid_argument);
  CHECK(judged([](LoadPlan& p) { p.parameters = {"offset=10"}; }) == Errc::invalid_argument);
  CHECK(judged([&](LoadPlan& p) { p.qrels = files.folder.write("others", "7 0 a 1\n"); }) == Errc::invalid_argument);
}

TEST_CASE("a reference that answers nothing is an error, not a load without recall") {
  const PlanFiles files;
  auto plan = files.plan();
  plan.reference = files.folder.path("no-index");
  CHECK(prepare_load(plan).has_error());
}

TEST_CASE("queries beyond a run's reach are not prepared, and those within are, whatever chance brings") {
  LoadSettings settings;
  settings.rate = 100;
  settings.duration = 9s;
  settings.warm_up = 1s;
  CHECK(queries_within_reach(settings, 500) == 500);
  const auto reach = queries_within_reach(settings, 1'000'000);
  CHECK(reach > 1000);
  CHECK(reach < 1300);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Arrivals arrivals(ArrivalShape::poisson, 100, 10s, seed);
    std::size_t count = 0;
    while (arrivals.next()) ++count;
    CHECK(count <= reach);
  }
  settings.order = QueryOrder::drawn;
  CHECK(queries_within_reach(settings, 1'000'000) == 1'000'000);
  LoadSettings closed;
  closed.clients = 3;
  closed.count = 7;
  CHECK(queries_within_reach(closed, 100) == 7);
}
