#include "leaf/fault_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const std::vector<std::string> editor_query{"editor", "text"};
const std::vector<std::string> other_query{"browser"};
const std::vector<PartitionId> third{PartitionId{3}};

constexpr Instant set_at = Instant{} + 100h;

std::vector<Fault> faults_of(const json& list) {
  auto faults = parse_faults(list, [](const std::string&) -> result<std::string> { return Error{Errc::io, "no files"}; });
  REQUIRE_MESSAGE(faults.has_value(), faults.error().context);
  return std::move(*faults);
}

FaultPlan plan_of(const char* text, const char* leaf = "leaf-0") {
  FaultPlan plan(leaf, [](const std::string& word) { return word; });
  plan.replace(faults_of(json::parse(text)), set_at, Instant{});
  return plan;
}

WorkInHand search_of(const std::vector<std::string>& terms, std::string_view query = "a query") {
  return {WorkKind::search, third, &terms, query};
}

FaultDecision decide(FaultPlan& plan, const std::vector<std::string>& terms = other_query, Duration later = 0ms) {
  return plan.decide(search_of(terms), set_at + later);
}

std::vector<bool> errors(FaultPlan& plan, int count) {
  std::vector<bool> all;
  for (int i = 0; i < count; ++i) all.push_back(decide(plan).ending == FaultEnding::error);
  return all;
}

auto count_of(const std::vector<bool>& all) { return std::count(all.begin(), all.end(), true); }

std::uint64_t applied(const FaultPlan& plan, std::size_t place = 0) {
  return plan.listing(set_at)[place]["applied"].get<std::uint64_t>();
}

bool met(FaultPlan& plan, const WorkInHand& work) { return plan.decide(work, set_at).ending != FaultEnding::none; }

}  // namespace

TEST_CASE("the same seed gives the same decisions, another seed others, and putting a plan in place starts it anew") {
  auto one = plan_of(R"([{"kind": "error", "probability": 0.5, "seed": 7}])");
  auto same_seed = plan_of(R"([{"kind": "error", "probability": 0.5, "seed": 7}])");
  auto other_seed = plan_of(R"([{"kind": "error", "probability": 0.5, "seed": 8}])");
  const auto first = errors(one, 64);
  CHECK(first == errors(same_seed, 64));
  CHECK(first != errors(other_seed, 64));
  one.replace(faults_of(json::parse(R"([{"kind": "error", "probability": 0.5, "seed": 7}])")), set_at, Instant{});
  CHECK(first == errors(one, 64));
}

TEST_CASE("one fault on two leaves, and two faults of one seed on one, do not meet the same work") {
  // Both of the two: a quarter of 4,000 if they are independent (standard deviation 27), and half if they coincide.
  const char* half = R"([{"kind": "error", "probability": 0.5}])";
  auto here = plan_of(half, "leaf-0"), there = plan_of(half, "leaf-1");
  const auto of_here = errors(here, 4'000), of_there = errors(there, 4'000);
  int coincide = 0;
  for (std::size_t i = 0; i < of_here.size(); ++i) coincide += of_here[i] && of_there[i] ? 1 : 0;
  CHECK(std::abs(coincide - 1'000) < 130);

  auto two = plan_of(R"([{"kind": "late", "delay": "1ms", "probability": 0.5}, {"kind": "error", "probability": 0.5}])");
  int together = 0;
  for (int i = 0; i < 4'000; ++i) {
    const auto decision = decide(two);
    together += decision.late > 0ms && decision.ending == FaultEnding::error ? 1 : 0;
  }
  CHECK(std::abs(together - 1'000) < 130);
}

TEST_CASE("a probability is kept: 0 never, 1 always, a quarter a quarter of the time") {
  auto never = plan_of(R"([{"kind": "error", "probability": 0}])");
  auto always = plan_of(R"([{"kind": "error"}])");
  auto quarter = plan_of(R"([{"kind": "error", "probability": 0.25}])");
  CHECK(count_of(errors(never, 1000)) == 0);
  CHECK(count_of(errors(always, 1000)) == 1000);
  // 2,500 expected, with a standard deviation of 43.
  const auto hit = count_of(errors(quarter, 10'000));
  CHECK(hit > 2'300);
  CHECK(hit < 2'700);
  CHECK(applied(quarter) == static_cast<std::uint64_t>(hit));
}

TEST_CASE("per query, every partition on every leaf has the same fate and delay, and other queries have their own") {
  const char* text = R"([{"kind": "late", "delay": "exponential:10ms", "probability": 0.3, "per": "query", "seed": 5}])";
  auto here = plan_of(text, "leaf-0"), there = plan_of(text, "leaf-1");
  auto other_seed = plan_of(R"([{"kind": "late", "delay": "exponential:10ms", "probability": 0.3, "per": "query", "seed": 6}])");
  const std::vector<PartitionId> seventh{PartitionId{7}};
  int slow = 0, differ = 0;
  for (int i = 0; i < 2'000; ++i) {
    const std::string query = "query " + std::to_string(i);
    const auto first = here.decide({WorkKind::search, third, &other_query, query}, set_at);
    CHECK(here.decide({WorkKind::search, seventh, &other_query, query}, set_at).late == first.late);
    CHECK(there.decide({WorkKind::search, seventh, &other_query, query}, set_at).late == first.late);
    slow += first.late > 0ms ? 1 : 0;
    differ += other_seed.decide({WorkKind::search, third, &other_query, query}, set_at).late != first.late ? 1 : 0;
  }
  // 600 expected, with a standard deviation of 20.
  CHECK(std::abs(slow - 600) < 100);
  CHECK(differ > 900);
  // What knows no query is spared.
  auto always = plan_of(R"([{"kind": "error", "per": "query"}])");
  CHECK(met(always, search_of(other_query)));
  CHECK_FALSE(met(always, {WorkKind::fetch, third, nullptr, ""}));
}

TEST_CASE("a fault with a word meets only queries that have it, and spares fetches") {
  auto plan = plan_of(R"([{"kind": "crash", "word": "editor"}])");
  CHECK_FALSE(met(plan, search_of(other_query)));
  CHECK_FALSE(met(plan, {WorkKind::fetch, third, nullptr, ""}));
  CHECK(applied(plan) == 0);
  CHECK(decide(plan, editor_query).ending == FaultEnding::crash);
  CHECK(applied(plan) == 1);
}

TEST_CASE("a fault with a pattern meets only queries that it is met by, and with a word too only those that have both") {
  auto plan = plan_of(R"([{"kind": "error", "query": "edit* -browser"}])");
  CHECK(met(plan, search_of(editor_query)));
  CHECK_FALSE(met(plan, search_of(other_query)));
  CHECK_FALSE(met(plan, {WorkKind::fetch, third, nullptr, ""}));
  auto both = plan_of(R"([{"kind": "error", "query": "edit*", "word": "browser"}])");
  CHECK_FALSE(met(both, search_of(editor_query)));
  const std::vector<std::string> has_both{"browser", "editor"};
  CHECK(met(both, search_of(has_both)));
}

TEST_CASE("a fault without a word meets fetches too") {
  auto plan = plan_of(R"([{"kind": "late", "delay": "5ms"}])");
  CHECK(plan.decide({WorkKind::fetch, third, nullptr, ""}, set_at).late == 5ms);
}

TEST_CASE("a fault of partitions meets what reads one of them, and nothing that reads none") {
  auto plan = plan_of(R"([{"kind": "error", "partitions": [2, 3]}])");
  const auto of = [&](std::vector<PartitionId> partitions) {
    return met(plan, {WorkKind::fetch, partitions, nullptr, ""});
  };
  CHECK(of({PartitionId{3}}));
  CHECK(of({PartitionId{0}, PartitionId{2}}));
  CHECK_FALSE(of({PartitionId{0}, PartitionId{1}}));
  CHECK_FALSE(of({}));
  CHECK(applied(plan) == 2);
}

TEST_CASE("a fault with work meets those kinds of work alone, and draws no chance for others") {
  for (const auto kind : work_kinds) {
    auto plan = plan_of(R"([{"kind": "error", "work": ["spelling", "facets", "spelling"]}])");
    CAPTURE(to_string(kind));
    const bool meant = kind == WorkKind::spelling || kind == WorkKind::facets;
    CHECK(met(plan, {kind, {}, nullptr, ""}) == meant);
    CHECK(met(plan, {kind, {}, &editor_query, ""}) == meant);
    CHECK(applied(plan) == (meant ? 2 : 0));
  }
  auto both = plan_of(R"([{"kind": "error", "work": ["spelling"], "word": "editor"}])");
  CHECK_FALSE(met(both, {WorkKind::search, {}, &editor_query, ""}));
  CHECK_FALSE(met(both, {WorkKind::spelling, {}, &other_query, ""}));
  CHECK(met(both, {WorkKind::spelling, {}, &editor_query, ""}));

  auto alone = plan_of(R"([{"kind": "error", "work": ["search"], "probability": 0.5, "seed": 7}])");
  auto mixed = plan_of(R"([{"kind": "error", "work": ["search"], "probability": 0.5, "seed": 7}])");
  for (int i = 0; i < 64; ++i) {
    mixed.decide({WorkKind::snippets, third, &other_query, ""}, set_at);
    CHECK(met(alone, search_of(other_query)) == met(mixed, search_of(other_query)));
  }
}

TEST_CASE("several faults add up, the worst ending counts, and the decision names them all") {
  auto plan = plan_of(R"([{"kind": "late", "delay": "200ms"}, {"kind": "late", "delay": "50ms"}, {"kind": "hold", "delay": "1s"},
                          {"kind": "burn", "delay": "2500us"}, {"kind": "refused"}, {"kind": "error"},
                          {"kind": "error", "probability": 0}])");
  const auto decision = decide(plan);
  CHECK(decision.late == 250ms);
  CHECK(decision.hold == 1s);
  CHECK(decision.burn == 2500us);
  CHECK(decision.ending == FaultEnding::refused);
  CHECK(decision.names == "late 200ms, late 50ms, hold 1s, burn 2500us, refused, error");
  CHECK(decision.kinds == std::vector{FaultKind::late, FaultKind::late, FaultKind::hold, FaultKind::burn, FaultKind::refused,
                                      FaultKind::error});
  const std::pair<const char*, FaultEnding> endings[] = {{"error", FaultEnding::error},
                                                         {"refused", FaultEnding::refused},
                                                         {"garbage", FaultEnding::garbage},
                                                         {"black_hole", FaultEnding::black_hole},
                                                         {"crash", FaultEnding::crash}};
  for (const auto& [kind, ending] : endings) {
    CAPTURE(kind);
    auto one = plan_of(("[{\"kind\": \"" + std::string(kind) + "\"}]").c_str());
    CHECK(decide(one).ending == ending);
    CHECK(decide(one).names == kind);
  }
}

TEST_CASE("delays are drawn from their distribution, and named to the microsecond") {
  auto plan = plan_of(R"([{"kind": "late", "delay": "uniform:10ms..20ms"}])");
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const auto decision = decide(plan);
    REQUIRE(decision.late >= 10ms);
    REQUIRE(decision.late <= 20ms);
    sum += to_milliseconds(decision.late);
    if (i > 0) continue;
    CHECK(decision.names.starts_with("late 1"));
    CHECK(decision.names.ends_with("ms"));
    CHECK(decision.names.size() == std::string("late 12.345ms").size());
  }
  // A standard deviation of 0.029.
  CHECK(sum / 10'000 == doctest::Approx(15).epsilon(0.01));

  // Two kinds of durations by weight: three quarters of 4,000, with a standard deviation of 27.
  auto measured = plan_of(R"([{"kind": "hold", "delay": {"empirical": ["1ms", ["7ms", 3]]}}])");
  int sevens = 0;
  for (int i = 0; i < 4'000; ++i) sevens += decide(measured).hold == 7ms ? 1 : 0;
  CHECK(std::abs(sevens - 3'000) < 130);
}

TEST_CASE("a fault acts from its time on and for its time, and stays in the list with what it has done") {
  auto plan = plan_of(R"([{"kind": "error", "after": "1s", "for": "2s"}, {"kind": "late", "delay": "1ms"}])");
  struct Row {
    Duration at;
    bool error;
    const char* state;
    const char* remaining;
  };
  const Row rows[] = {{0ms, false, "waiting", "2s"},       {999ms, false, "waiting", "2s"},  {1s, true, "active", "2s"},
                      {1500ms, true, "active", "1500ms"},  {2999ms, true, "active", "1ms"},  {3s, false, "over", "0ms"},
                      {1h, false, "over", "0ms"}};
  for (const Row& row : rows) {
    CAPTURE(to_milliseconds(row.at));
    CHECK((decide(plan, other_query, row.at).ending == FaultEnding::error) == row.error);
    const auto listed = plan.listing(set_at + row.at);
    CHECK(listed[0]["state"] == row.state);
    CHECK(listed[0]["remaining"] == row.remaining);
    CHECK(listed[1]["state"] == "active");
    CHECK_FALSE(listed[1].contains("remaining"));
  }
  CHECK(applied(plan, 0) == 3);
  CHECK(applied(plan, 1) == 7);
  CHECK_FALSE(plan.next_change(set_at).has_value());  // of the whole leaf nothing changes
}

TEST_CASE("a pause is a state of the leaf, not a decision about work, and over when it is cleared or its time is") {
  auto plan = plan_of(R"([{"kind": "pause"}])");
  REQUIRE(plan.of_leaf(set_at).size() == 1);
  CHECK(plan.of_leaf(set_at)[0].kind == FaultKind::pause);
  CHECK(plan.of_leaf(set_at)[0].until == Instant::max());
  CHECK_FALSE(plan.next_change(set_at).has_value());
  CHECK(decide(plan).names.empty());
  plan.replace({}, set_at, Instant{});
  CHECK(plan.of_leaf(set_at).empty());
  CHECK(plan.empty());

  auto timed = plan_of(R"([{"kind": "pause", "after": "1s", "for": "2s"}])");
  CHECK(timed.of_leaf(set_at).empty());
  CHECK(timed.next_change(set_at) == std::optional(set_at + 1s));
  REQUIRE(timed.of_leaf(set_at + 1s).size() == 1);
  CHECK(timed.of_leaf(set_at + 1s)[0].until == set_at + 3s);
  CHECK(timed.next_change(set_at + 1s) == std::optional(set_at + 3s));
  CHECK(timed.of_leaf(set_at + 3s).empty());
  CHECK_FALSE(timed.next_change(set_at + 3s).has_value());
}

TEST_CASE("background work goes on for its length in each period, within the fault's own time") {
  // Unix time 0 is at Instant{}, 100 hours before: whole seconds are begins.
  auto plan = plan_of(R"([{"kind": "background", "period": "1s", "length": "100ms", "after": "250ms", "for": "1800ms"}])");
  std::vector<std::pair<Duration, Duration>> runs;
  for (auto at = plan.next_change(set_at); at; at = plan.next_change(*at)) {
    for (const auto& run : plan.of_leaf(*at)) {
      CHECK(run.kind == FaultKind::background);
      REQUIRE(run.background);
      CHECK(run.background->takes == BackgroundWork::Takes::workers);
      runs.emplace_back(*at - set_at, run.until - set_at);
    }
  }
  // The last one is cut by the fault's end.
  CHECK(runs == std::vector<std::pair<Duration, Duration>>{{1s, 1100ms}, {2s, 2050ms}});
  plan.count_run(0);
  CHECK(applied(plan) == 1);
}

TEST_CASE("aligned leaves run at once, a given phase is on top of that, staggered ones have their own") {
  const auto first_run = [](const char* phase, const char* leaf) {
    auto plan = plan_of((R"([{"kind": "background", "period": "10s", "length": "10ms", "phase": ")" + std::string(phase) + "\"}]").c_str(), leaf);
    Instant at = set_at + 1h;
    while (plan.of_leaf(at).empty()) at = *plan.next_change(at);
    return at - set_at - 1h;
  };
  CHECK(first_run("aligned", "leaf-0") == 0s);
  CHECK(first_run("aligned", "leaf-1") == 0s);
  CHECK(first_run("3s", "leaf-1") == 3s);
  CHECK(first_run("staggered", "leaf-0") == staggered_phase(10s, "leaf-0"));
  CHECK(first_run("staggered", "leaf-0") != first_run("staggered", "leaf-1"));
}

}  // namespace hedgerow::leaf
