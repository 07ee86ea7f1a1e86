#include "lab/sweep/plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "lab/sweep/flags.hpp"
#include "tests/places.hpp"

using namespace hedgerow;
using namespace hedgerow::lab::sweep;
using nlohmann::ordered_json;
using namespace std::chrono_literals;

namespace {

ordered_json full_plan() {
  return ordered_json::parse(R"({
    "name": "evening", "deadlines": ["20ms", "1s"], "fanouts": [4, "all"],
    "policies": [{"name": "plain", "hedge": "off"}, {"name": "hedged", "hedge": "p95", "min_completeness": 0.9, "hedge_budget_fill": 0.02}],
    "faults": [{"name": "none"}, {"name": "late, leaf", "faults": [{"leaf": 0, "kind": "late", "delay": "200ms"}]}],
    "repetitions": 3, "seed": 9,
    "load": {"rate": 50, "duration": "4s", "warm_up": "1s", "arrivals": "even", "queries": "q.txt", "connections": 8},
    "quality": {"k": 20, "reference": true, "qrels": "j.txt"},
    "live": {"index": "/srv/index", "leaves": 4, "replicas": 1, "root_arguments": ["--threads=2"], "anew": "all"},
    "simulated": {"leaves": 10, "service": "constant:1ms"}})");
}

std::string problem_of(const ordered_json& json) {
  const auto plan = parse_plan(json);
  return plan.has_error() ? plan.error().context : "";
}

}  // namespace

TEST_CASE("a plan is read as it is written, and written as it is read") {
  const auto plan = parse_plan(full_plan());
  REQUIRE_MESSAGE(plan.has_value(), problem_of(full_plan()));
  CHECK(plan->deadlines == std::vector<Duration>{20ms, 1s});
  CHECK(plan->fanouts == std::vector<std::optional<std::uint32_t>>{4, std::nullopt});
  REQUIRE(plan->policies.size() == 2);
  CHECK(plan->policies[1].parameters == hedgerow::lab::SearchParameters{{"hedge", "p95"}, {"min_completeness", "0.9"}});
  CHECK(plan->policies[1].hedge_budget_fill == 0.02);
  CHECK_FALSE(plan->policies[0].hedge_budget_fill);
  CHECK(plan->faults[1].faults[0]["delay"] == "200ms");
  CHECK(plan->load.arrivals == lab::ArrivalShape::even);
  CHECK(plan->load.warm_up == 1s);
  CHECK(plan->quality.k == 20);
  CHECK(plan->live->anew == LiveWorld::Anew::all);
  CHECK(plan->live->root_arguments == std::vector<std::string>{"--threads=2"});
  CHECK(plan->simulated->leaves == 10);
  CHECK(plan->simulated->replicas == 3);

  const auto again = parse_plan(to_json(*plan));
  REQUIRE(again.has_value());
  CHECK(to_json(*again) == to_json(*plan));
}

TEST_CASE("the plan that the documents show is one") {
  std::ifstream file(test::source_path("docs/sweeps.md"));
  const std::string document{std::istreambuf_iterator<char>(file), {}};
  const auto begin = document.find("```json\n");
  REQUIRE(begin != std::string::npos);
  const auto json = ordered_json::parse(document.substr(begin + 8, document.find("```", begin + 8) - begin - 8));
  const auto plan = parse_plan(json);
  REQUIRE_MESSAGE(plan.has_value(), problem_of(json));
  CHECK(points_of(*plan).size() == 36);
  // It shows every member that there is, each with its default or an example.
  const auto written = to_json(*plan);
  for (const auto& [name, section] : written.items()) {
    CAPTURE(name);
    REQUIRE(json.contains(name));
    if (!section.is_object()) continue;
    for (const auto& [member, value] : section.items()) {
      CAPTURE(member);
      CHECK(json[name].contains(member));
    }
  }
}

TEST_CASE("what a plan does not say has a default") {
  const auto plan = parse_plan({{"load", {{"rate", 10}}}});
  REQUIRE(plan.has_value());
  CHECK(points_of(*plan) == std::vector<SweepPoint>{{250ms, std::nullopt, "default", "none"}});
  CHECK(plan->repetitions == 5);
  CHECK_FALSE(plan->live);
}

TEST_CASE("what is wrong with a plan is named by its place") {
  struct Row {
    const char* path;  // what is changed, as a JSON pointer
    ordered_json value;
    const char* named;
  };
  const Row rows[] = {
      {"/deadlines", {"20"}, "deadlines[0]"},
      {"/deadlines", {"20ms", "61s"}, "deadlines[1]"},
      {"/deadlines", {"20ms", "20000us"}, "'20ms' twice"},
      {"/deadlines", ordered_json::array(), "deadlines"},
      {"/fanouts", {0}, "fanouts[0]"},
      {"/fanouts", {"some"}, "fanouts[0]"},
      {"/policies/0", {{"hedge", "off"}}, "policies[0].name"},
      {"/policies/0", {{"name", "a"}, {"hedge", "sometimes"}}, "hedge"},
      {"/policies/0", {{"name", "a"}, {"deadline", "1s"}}, "policies[0].deadline"},
      {"/policies/0", {{"name", "a"}, {"speed", 3}}, "speed"},
      {"/policies/0", {{"name", "hedged"}}, "'hedged' twice"},
      {"/policies/0", {{"name", "a"}, {"hedge_budget_fill", 2}}, "hedge_budget_fill"},
      {"/faults/1/faults", {1}, "faults[1]"},
      {"/faults/1/kind", "late", "faults[1].kind"},
      {"/load/rate", 0, "load.rate"},
      {"/load/rate", "fast", "load.rate"},
      {"/load/duration", "0ms", "load.duration"},
      {"/load/arrivals", "odd", "load.arrivals"},
      {"/load/speed", 1, "load.speed"},
      {"/quality/k", 0, "quality.k"},
      {"/live/index", "", "live.index"},
      {"/live/anew", "none", "live.anew"},
      {"/repetitions", 0, "repetitions"},
      {"/repetitions", 2.5, "repetitions"},
      {"/seed", -1, "seed"},
      {"/color", "red", "color"},
  };
  for (const Row& row : rows) {
    auto json = full_plan();
    json[ordered_json::json_pointer(row.path)] = row.value;
    CAPTURE(row.path);
    CAPTURE(row.value.dump());
    CAPTURE(problem_of(json));
    CHECK(problem_of(json).find(row.named) != std::string::npos);
  }
  CHECK(problem_of(ordered_json::array()) != "");
}

TEST_CASE("points are every combination, once") {
  const auto plan = parse_plan(full_plan());
  const auto points = points_of(*plan);
  REQUIRE(points.size() == 16);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(points[i] == points[j]);
  }
  CHECK(points.front() == SweepPoint{20ms, 4, "plain", "none"});
  CHECK(points.back() == SweepPoint{1s, std::nullopt, "hedged", "late, leaf"});
}

TEST_CASE("each repetition runs every point once, in an order of its own, with the same arrivals") {
  const auto plan = parse_plan(full_plan());
  const auto schedule = schedule_of(*plan);
  REQUIRE(schedule.size() == 48);
  std::set<std::vector<std::size_t>> orders;
  std::set<std::uint64_t> seeds;
  for (std::uint64_t repetition = 1; repetition <= 3; ++repetition) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < 16; ++i) {
      const auto& run = schedule[(repetition - 1) * 16 + i];
      CHECK(run.repetition == repetition);
      CHECK(run.seed == schedule[(repetition - 1) * 16].seed);
      order.push_back(run.point);
    }
    seeds.insert(schedule[(repetition - 1) * 16].seed);
    orders.insert(order);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < 16; ++i) CHECK(order[i] == i);
  }
  CHECK(orders.size() == 3);
  CHECK(seeds.size() == 3);
}

TEST_CASE("a schedule follows from the seed, and more repetitions only go on") {
  auto plan = *parse_plan(full_plan());
  const auto as_numbers = [](const SweepPlan& of) {
    std::vector<std::uint64_t> numbers;
    for (const auto& run : schedule_of(of)) numbers.insert(numbers.end(), {run.point, run.repetition, run.seed});
    return numbers;
  };
  const auto first = as_numbers(plan);
  CHECK(as_numbers(plan) == first);
  plan.repetitions = 4;
  auto more = as_numbers(plan);
  more.resize(first.size());
  CHECK(more == first);
  plan.seed = 10;
  auto other = as_numbers(plan);
  other.resize(first.size());
  CHECK(other != first);
}

TEST_CASE("flags are laid over a plan, member by member") {
  PlanFlags flags;
  flags.deadlines = {"5ms,10ms", "2s"};
  flags.fanouts = {"all"};
  flags.rate = 7;
  flags.repetitions = 2;
  flags.index = "/other";
  const auto json = with_flags(full_plan(), flags);
  REQUIRE(json.has_value());
  const auto plan = parse_plan(*json);
  REQUIRE(plan.has_value());
  CHECK(plan->deadlines == std::vector<Duration>{5ms, 10ms, 2s});
  CHECK(plan->fanouts == std::vector<std::optional<std::uint32_t>>{std::nullopt});
  CHECK(plan->load.rate == 7);
  CHECK(plan->load.duration == 4s);  // the file's
  CHECK(plan->live->index == "/other");
  CHECK(plan->live->leaves == 4);
  CHECK(plan->policies.size() == 2);
}

TEST_CASE("policies and faults are a line each, with values that have commas of their own") {
  PlanFlags flags;
  flags.policies = {"plain:hedge=off", "eager:hedge=p90,hedge_budget_fill=0.1", "bare"};
  flags.faults = {"none", "mixed:leaf=0,kind=late,delay=erlang:15ms,6,probability=0.5", "mixed:kind=hold,delay=2ms,work=[\"search\",\"fetch\"]"};
  const auto json = with_flags(ordered_json::object(), flags);
  REQUIRE(json.has_value());
  CHECK((*json)["policies"] == ordered_json::parse(R"([{"name": "plain", "hedge": "off"}, {"name": "eager", "hedge": "p90", "hedge_budget_fill": 0.1}, {"name": "bare"}])"));
  CHECK((*json)["faults"] == ordered_json::parse(R"([{"name": "none", "faults": []},
    {"name": "mixed", "faults": [{"leaf": 0, "kind": "late", "delay": "erlang:15ms,6", "probability": 0.5},
                                 {"kind": "hold", "delay": "2ms", "work": ["search", "fetch"]}]}])"));
}

TEST_CASE("flags that say nothing sensible are refused") {
  const auto refused = [](auto&& change) {
    PlanFlags flags;
    change(flags);
    return with_flags(ordered_json::object(), flags).has_error();
  };
  CHECK(refused([](PlanFlags& flags) { flags.policies = {":hedge=off"}; }));
  CHECK(refused([](PlanFlags& flags) { flags.policies = {"hedge=off"}; }));
  CHECK(refused([](PlanFlags& flags) { flags.policies = {"a:off"}; }));
  CHECK(refused([](PlanFlags& flags) { flags.faults = {"a:kind=late,kind=hold"}; }));
  CHECK(refused([](PlanFlags& flags) { flags.service = "constant:1ms"; }));
  CHECK_FALSE(refused([](PlanFlags& flags) { flags.policies = {"a"}; }));
}

TEST_CASE("a plan of a simulated world alone is run there without a flag that says so") {
  PlanFlags flags;
  flags.leaves = 7;
  const auto json = with_flags({{"simulated", {{"partitions", 5}}}, {"load", {{"rate", 1}}}}, flags);
  REQUIRE(json.has_value());
  const auto plan = parse_plan(*json);
  REQUIRE(plan.has_value());
  CHECK_FALSE(plan->live);
  CHECK(plan->simulated->leaves == 7);
  CHECK(plan->simulated->partitions == 5);
}
