#include "leaf/fault_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const std::vector<std::string> editor_query{"editor", "text"};
const std::vector<std::string> other_query{"browser"};

FaultPlan plan_of(const char* text) {
  FaultPlan plan([](const std::vector<std::string>& terms, const std::string& word) {
    return std::find(terms.begin(), terms.end(), word) != terms.end();
  });
  auto faults = parse_faults(json::parse(text));
  REQUIRE(faults.has_value());
  plan.replace(std::move(*faults));
  return plan;
}

std::vector<bool> decisions(FaultPlan& plan, int count) {
  std::vector<bool> errors;
  for (int i = 0; i < count; ++i) errors.push_back(plan.decide(WorkKind::search, &other_query).error);
  return errors;
}

}  // namespace

TEST_CASE("faults are read from a list, or from what a listing says") {
  for (const char* text : {R"([{"kind": "late", "delay": "200ms", "probability": 0.5, "seed": 7, "word": "editor"}])",
                           R"({"faults": [{"kind": "late", "delay": "200ms", "probability": 0.5, "seed": 7, "word": "editor", "applied": 12}]})"}) {
    const auto faults = parse_faults(json::parse(text));
    REQUIRE(faults.has_value());
    REQUIRE(faults->size() == 1);
    const Fault& fault = faults->front();
    CHECK(fault.kind == FaultKind::late);
    CHECK(fault.delay == 200ms);
    CHECK(fault.probability == 0.5);
    CHECK(fault.seed == 7);
    CHECK(fault.word == "editor");
    CHECK(fault.applied == 0);
  }
  CHECK(parse_faults(json::array())->empty());
}

TEST_CASE("what is listed can be sent back") {
  const auto faults = parse_faults(json::parse(
      R"([{"kind": "late", "delay": "1500us"}, {"kind": "hold", "delay": "2s", "word": "a"}, {"kind": "pause"},
          {"kind": "error", "probability": 0.25, "seed": 18446744073709551615}, {"kind": "crash", "word": "b"}])"));
  REQUIRE(faults.has_value());
  json listed = json::array();
  for (const auto& fault : *faults) listed.push_back(to_json(fault));
  const auto again = parse_faults(listed);
  REQUIRE(again.has_value());
  REQUIRE(again->size() == faults->size());
  for (std::size_t i = 0; i < faults->size(); ++i) CHECK(to_json((*again)[i]) == to_json((*faults)[i]));
}

TEST_CASE("every error in a fault names the fault and the field") {
  struct Row {
    const char* fault;
    const char* named;
  };
  const Row rows[] = {
      {R"(3)", "object"},
      {R"({})", "'kind'"},
      {R"({"kind": "slow"})", "'kind'"},
      {R"({"kind": 1})", "'kind'"},
      {R"({"kind": "late"})", "'delay'"},
      {R"({"kind": "hold"})", "'delay'"},
      {R"({"kind": "late", "delay": 200})", "'delay'"},
      {R"({"kind": "late", "delay": "200"})", "'delay'"},
      {R"({"kind": "late", "delay": "-1ms"})", "'delay'"},
      {R"({"kind": "error", "delay": "1ms"})", "'delay'"},
      {R"({"kind": "pause", "delay": "1ms"})", "'delay'"},
      {R"({"kind": "error", "probability": 1.01})", "'probability'"},
      {R"({"kind": "error", "probability": -0.1})", "'probability'"},
      {R"({"kind": "error", "probability": "1"})", "'probability'"},
      {R"({"kind": "error", "seed": -1})", "'seed'"},
      {R"({"kind": "error", "seed": 1.5})", "'seed'"},
      {R"({"kind": "error", "word": ""})", "'word'"},
      {R"({"kind": "error", "word": 7})", "'word'"},
      {R"({"kind": "pause", "word": "a"})", "'word'"},
      {R"({"kind": "pause", "work": ["search"]})", "'work'"},
      {R"({"kind": "error", "work": "search"})", "'work'"},
      {R"({"kind": "error", "work": []})", "'work'"},
      {R"({"kind": "error", "work": ["search", "searches"]})", "\"searches\""},
      {R"({"kind": "error", "work": ["search", 7]})", "'work': 7"},
      {R"({"kind": "pause", "probability": 0.5})", "'probability'"},
      {R"({"kind": "error", "chance": 0.5})", "'chance'"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fault);
    const auto faults = parse_faults(json::parse(R"([{"kind": "error"}, )" + std::string(row.fault) + "]"));
    REQUIRE(faults.has_error());
    CAPTURE(faults.error().context);
    CHECK(faults.error().code == Errc::invalid_argument);
    CHECK(faults.error().context.find("fault 2") != std::string::npos);
    CHECK(faults.error().context.find(row.named) != std::string::npos);
  }
}

TEST_CASE("what is no list of faults, or too long a one, is refused") {
  for (const char* text : {"null", "{}", "\"late\"", R"({"faults": {}})", R"({"faults": [], "more": 1})"}) {
    CAPTURE(text);
    CHECK(parse_faults(json::parse(text)).has_error());
  }
  json many = json::array();
  for (int i = 0; i < 64; ++i) many.push_back({{"kind", "error"}});
  CHECK(parse_faults(many).has_value());
  many.push_back({{"kind", "error"}});
  CHECK(parse_faults(many).error().code == Errc::too_large);
}

TEST_CASE("the same seed gives the same decisions, another seed others, and putting a plan in place starts it anew") {
  auto one = plan_of(R"([{"kind": "error", "probability": 0.5, "seed": 7}])");
  auto same = plan_of(R"([{"kind": "error", "probability": 0.5, "seed": 7}])");
  auto other = plan_of(R"([{"kind": "error", "probability": 0.5, "seed": 8}])");
  const auto first = decisions(one, 64);
  CHECK(first == decisions(same, 64));
  CHECK(first != decisions(other, 64));
  one.replace(*parse_faults(json::parse(R"([{"kind": "error", "probability": 0.5, "seed": 7}])")));
  CHECK(first == decisions(one, 64));
}

TEST_CASE("a probability is kept: 0 never, 1 always, a quarter a quarter of the time") {
  auto never = plan_of(R"([{"kind": "error", "probability": 0}])");
  auto always = plan_of(R"([{"kind": "error"}])");
  auto quarter = plan_of(R"([{"kind": "error", "probability": 0.25}])");
  const auto count = [](const std::vector<bool>& errors) { return std::count(errors.begin(), errors.end(), true); };
  CHECK(count(decisions(never, 1000)) == 0);
  CHECK(count(decisions(always, 1000)) == 1000);
  // 2,500 expected, with a standard deviation of 43.
  const auto hit = count(decisions(quarter, 10'000));
  CHECK(hit > 2'300);
  CHECK(hit < 2'700);
  CHECK(quarter.faults()[0].applied == static_cast<std::uint64_t>(hit));
}

TEST_CASE("a fault with a word meets only queries that have it, and spares fetches") {
  auto plan = plan_of(R"([{"kind": "crash", "word": "editor"}])");
  CHECK_FALSE(plan.decide(WorkKind::search, &other_query).crash);
  CHECK_FALSE(plan.decide(WorkKind::fetch, nullptr).crash);
  CHECK(plan.faults()[0].applied == 0);
  CHECK(plan.decide(WorkKind::search, &editor_query).crash);
  CHECK(plan.faults()[0].applied == 1);
}

TEST_CASE("a fault without a word meets fetches too") {
  auto plan = plan_of(R"([{"kind": "late", "delay": "5ms"}])");
  CHECK(plan.decide(WorkKind::fetch, nullptr).late == 5ms);
}

TEST_CASE("a fault with work meets those kinds of work alone, and draws no chance for others") {
  for (const auto kind : work_kinds) {
    auto plan = plan_of(R"([{"kind": "error", "work": ["spelling", "facets", "spelling"]}])");
    CAPTURE(to_string(kind));
    const bool met = kind == WorkKind::spelling || kind == WorkKind::facets;
    CHECK(plan.decide(kind, nullptr).error == met);
    CHECK(plan.decide(kind, &editor_query).error == met);
    CHECK(plan.faults()[0].applied == (met ? 2 : 0));
  }
  auto both = plan_of(R"([{"kind": "error", "work": ["spelling"], "word": "editor"}])");
  CHECK_FALSE(both.decide(WorkKind::search, &editor_query).error);
  CHECK_FALSE(both.decide(WorkKind::spelling, &other_query).error);
  CHECK(both.decide(WorkKind::spelling, &editor_query).error);

  auto alone = plan_of(R"([{"kind": "error", "work": ["search"], "probability": 0.5, "seed": 7}])");
  auto mixed = plan_of(R"([{"kind": "error", "work": ["search"], "probability": 0.5, "seed": 7}])");
  for (int i = 0; i < 64; ++i) {
    mixed.decide(WorkKind::snippets, &other_query);
    CHECK(alone.decide(WorkKind::search, &other_query).error == mixed.decide(WorkKind::search, &other_query).error);
  }
}

TEST_CASE("the names of all kinds of work are read, and listed as they were given") {
  const auto faults = parse_faults(
      json::parse(R"([{"kind": "error", "work": ["lookup", "fetch", "search", "snippets", "spelling", "facets"]}])"));
  REQUIRE(faults.has_value());
  CHECK(to_json(faults->front())["work"] == json({"lookup", "fetch", "search", "snippets", "spelling", "facets"}));
  CHECK_FALSE(to_json(Fault{}).contains("work"));
}

TEST_CASE("several faults add up, and the decision names them") {
  auto plan = plan_of(R"([{"kind": "late", "delay": "200ms"}, {"kind": "late", "delay": "50ms"},
                          {"kind": "hold", "delay": "1s"}, {"kind": "error"}, {"kind": "error", "probability": 0}])");
  const auto decision = plan.decide(WorkKind::search, &other_query);
  CHECK(decision.late == 250ms);
  CHECK(decision.hold == 1s);
  CHECK(decision.error);
  CHECK_FALSE(decision.crash);
  CHECK(decision.names == "late 200ms, late 50ms, hold 1s, error");
}

TEST_CASE("a pause is a state of the leaf, not a decision about work, and is over when it is cleared") {
  auto plan = plan_of(R"([{"kind": "pause"}])");
  CHECK(plan.paused());
  CHECK(plan.decide(WorkKind::search, &other_query).names.empty());
  plan.replace({});
  CHECK_FALSE(plan.paused());
  CHECK(plan.empty());
}

}  // namespace hedgerow::leaf
