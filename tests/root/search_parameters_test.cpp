#include "root/search_parameters.hpp"

#include <doctest/doctest.h>

namespace hedgerow::root {

namespace {

using namespace std::chrono_literals;
using Parameters = std::vector<std::pair<std::string, std::string>>;

auto parsed(Parameters parameters) { return parse_parameters(parameters, {}); }
auto parsed_json(const std::string& body) { return parse_parameters_json(body, {}); }

// With a query beside it.
auto with(const std::string& name, const std::string& value) { return parsed({{"q", "x"}, {name, value}}); }

}  // namespace

TEST_CASE("a query alone has the defaults of the API, and the server's deadline") {
  const auto parameters = parse_parameters({{"q", "full text"}}, {.deadline = 400ms});
  REQUIRE(parameters.has_value());
  CHECK(parameters->query == "full text");
  CHECK(parameters->k == 10);
  CHECK(parameters->offset == 0);
  CHECK(parameters->deadline == 400ms);
  CHECK_FALSE(parameters->fanout.has_value());
  CHECK(parameters->partial == PartialAnswers::allow);
  CHECK(parameters->service_class == ServiceClass::interactive);
  CHECK_FALSE(parameters->trace);
}

TEST_CASE("every parameter is read") {
  CHECK(with("k", "1")->k == 1);
  CHECK(with("k", "1000")->k == 1000);
  CHECK(with("offset", "0")->offset == 0);
  CHECK(with("offset", "9990")->offset == 9990);
  CHECK(with("deadline", "1us")->deadline == 1us);
  CHECK(with("deadline", "1.5s")->deadline == 1500ms);
  CHECK(with("deadline", "60s")->deadline == 60s);
  CHECK(with("deadline", "1m")->deadline == 60s);
  CHECK(with("fanout", "8")->fanout == 8U);
  CHECK(with("fanout", "4000000000")->fanout == 4'000'000'000U);
  CHECK_FALSE(with("fanout", "all")->fanout.has_value());
  CHECK(with("partial", "deny")->partial == PartialAnswers::deny);
  CHECK(with("partial", "allow")->partial == PartialAnswers::allow);
  CHECK(with("class", "batch")->service_class == ServiceClass::batch);
  CHECK(with("class", "interactive")->service_class == ServiceClass::interactive);
  CHECK(with("trace", "on")->trace);
  CHECK_FALSE(with("trace", "off")->trace);
}

TEST_CASE("a bad value is refused, and the refusal names parameter and value") {
  const Parameters rows{
      {"k", ""},          {"k", "0"},           {"k", "1001"},      {"k", "-1"},          {"k", "+5"},
      {"k", "5 "},        {"k", "ten"},         {"k", "1e2"},       {"k", "99999999999"}, {"offset", "-1"},
      {"offset", "x"},    {"offset", "10001"},  {"deadline", "0"},  {"deadline", "0ms"},  {"deadline", "250"},
      {"deadline", "ms"}, {"deadline", "-5ms"}, {"deadline", "61s"}, {"deadline", "1e3ms"}, {"deadline", "1 s"},
      {"fanout", "0"},    {"fanout", "ALL"},    {"fanout", "-2"},   {"partial", "maybe"}, {"partial", ""},
      {"class", "Batch"}, {"class", "fast"},    {"trace", "yes"},   {"trace", "1"},
      {"spelling", "on"}, {"snippets", ""},     {"cache", "on"},    {"facets", ""},    {"facets", "a,"},
      {"facets", "a,b,a"}, {"facets", ",a"},    {"grace", "5"},     {"grace", "-1ms"}, {"grace", "61s"},
      {"hedge", ""},      {"hedge", "on"},      {"hedge", "p0"},    {"hedge", "p100"},    {"hedge", "p"},
      {"hedge", "p-5"},   {"hedge", "pnan"},    {"hedge", "p9e1"},  {"hedge", "95"},      {"hedge", "0ms"},
      {"hedge", "61s"},   {"hedge", "-1ms"},    {"tied", "auto"},   {"tied", "true"},     {"canary", "on"},
      {"canary", ""},     {"min_completeness", "1.01"},             {"min_completeness", "-0.1"},
      {"min_completeness", "nan"},              {"min_completeness", "95%"},              {"min_completeness", ""},
      {"min_completeness", "inf"},              {"patience", "2"},  {"patience", "61s"},  {"patience", "-1ms"}};
  for (const auto& [name, value] : rows) {
    CAPTURE(name);
    CAPTURE(value);
    const auto refused = with(name, value);
    REQUIRE(refused.has_error());
    CHECK(refused.error().type == "bad-parameter");
    CHECK(refused.error().parameter == name);
    CHECK(refused.error().detail.find("'" + name + "' is '" + value + "'") != std::string::npos);
  }
}

TEST_CASE("optional subsystems: spelling and snippets by themselves, facets by name, and what waiting for them may cost") {
  const auto plain = parsed({{"q", "x"}});
  REQUIRE(plain.has_value());
  CHECK(plain->spelling);
  CHECK(plain->snippets);
  CHECK_FALSE(plain->facets.wanted());
  CHECK(plain->cache);
  CHECK(plain->grace == std::nullopt);
  CHECK_FALSE(with("spelling", "off")->spelling);
  CHECK_FALSE(with("snippets", "off")->snippets);
  CHECK_FALSE(with("cache", "off")->cache);
  CHECK_FALSE(with("facets", "off")->facets.wanted());
  CHECK(with("facets", "auto")->facets.every_category);
  CHECK(with("facets", "role,section")->facets.names == std::vector<std::string>{"role", "section"});
  CHECK(with("grace", "0ms")->grace == 0ms);
  CHECK(with("grace", "60s")->grace == 60s);
  const auto body = parsed_json(R"({"q": "x", "spelling": "off", "facets": "a,b", "grace": "1ms", "cache": "off"})");
  REQUIRE(body.has_value());
  CHECK_FALSE(body->spelling);
  CHECK(body->facets.names.size() == 2);
  CHECK(body->grace == 1ms);
  std::string many = "f0";
  for (int i = 1; i < 32; ++i) many += ",f" + std::to_string(i);
  CHECK(with("facets", many)->facets.names.size() == 32);
  CHECK(with("facets", many + ",f32").has_error());
}

TEST_CASE("a search takes a text or the id of a document, not both") {
  const auto like = parsed({{"like", "a/b c"}});
  REQUIRE(like.has_value());
  CHECK(like->like == "a/b c");
  CHECK(like->query == "");
  const auto both = with("like", "a");
  REQUIRE(both.has_error());
  CHECK(both.error().type == "bad-parameter");
  CHECK(both.error().parameter == "like");
  CHECK(parsed({{"like", std::string(1024, 'x')}}).has_value());
  for (const std::string& id : {std::string(), std::string(1025, 'x')}) CHECK(parsed({{"like", id}}).error().parameter == "like");
}

TEST_CASE("offset and k have a bound together") {
  CHECK(parsed({{"q", "x"}, {"offset", "9000"}, {"k", "1000"}}).has_value());
  const auto refused = parsed({{"q", "x"}, {"offset", "9001"}, {"k", "1000"}});
  REQUIRE(refused.has_error());
  CHECK(refused.error().type == "bad-parameter");
  CHECK(refused.error().detail.find("10000") != std::string::npos);
}

TEST_CASE("what does not exist is refused by its name") {
  for (const char* name : {"Q", "limit", "", "deadline_ms"}) {
    CAPTURE(name);
    const auto refused = with(name, "1");
    REQUIRE(refused.has_error());
    CHECK(refused.error().type == "unknown-parameter");
    CHECK(refused.error().parameter == name);
  }
}

TEST_CASE("how a query is answered around slowness: hedges, ties, canaries, and what is good enough") {
  using Mode = policy::HedgeChoice::Mode;
  const auto plain = parsed({{"q", "x"}});
  REQUIRE(plain.has_value());
  CHECK(plain->hedge.mode == Mode::automatic);
  CHECK_FALSE(plain->tied);
  CHECK(plain->canary == CanaryUse::automatic);
  CHECK(plain->good_enough.min_completeness == 1);
  CHECK(plain->good_enough.patience == 2ms);

  CHECK(with("hedge", "auto")->hedge.mode == Mode::automatic);
  CHECK(with("hedge", "off")->hedge.mode == Mode::off);
  CHECK(with("hedge", "p95")->hedge == policy::HedgeChoice{.mode = Mode::quantile, .quantile = 0.95, .delay = {}});
  CHECK(with("hedge", "p99.9")->hedge.quantile == doctest::Approx(0.999));
  CHECK(with("hedge", "1.5ms")->hedge == policy::HedgeChoice{.mode = Mode::fixed, .quantile = 0.95, .delay = 1500us});
  CHECK(with("tied", "on")->tied);
  CHECK_FALSE(with("tied", "off")->tied);
  CHECK(with("canary", "always")->canary == CanaryUse::always);
  CHECK(with("canary", "off")->canary == CanaryUse::off);
  CHECK(with("min_completeness", "0")->good_enough.min_completeness == 0);
  CHECK(with("min_completeness", "0.95")->good_enough.min_completeness == 0.95);
  CHECK(with("min_completeness", "1")->good_enough.min_completeness == 1);
  CHECK(with("patience", "0ms")->good_enough.patience == 0ms);
  CHECK(with("patience", "500us")->good_enough.patience == 500us);

  // In a body, a share may be a number.
  const auto body = parsed_json(R"({"q": "x", "min_completeness": 0.5, "hedge": "10ms", "tied": "on"})");
  REQUIRE(body.has_value());
  CHECK(body->good_enough.min_completeness == 0.5);
  // As JSON writes small numbers.
  CHECK(parsed_json(R"({"q": "x", "min_completeness": 0.00001})")->good_enough.min_completeness == 0.00001);
  CHECK(body->hedge.delay == 10ms);
  CHECK(body->tied);
}

TEST_CASE("the server's defaults hold where a query does not say") {
  SearchDefaults defaults;
  defaults.hedge.mode = policy::HedgeChoice::Mode::off;
  defaults.tied = true;
  defaults.canary = CanaryUse::off;
  const auto plain = parse_parameters({{"q", "x"}}, defaults);
  REQUIRE(plain.has_value());
  CHECK(plain->hedge.mode == policy::HedgeChoice::Mode::off);
  CHECK(plain->tied);
  CHECK(plain->canary == CanaryUse::off);
  const auto said = parse_parameters({{"q", "x"}, {"hedge", "auto"}, {"tied", "off"}, {"canary", "auto"}}, defaults);
  REQUIRE(said.has_value());
  CHECK(said->hedge.mode == policy::HedgeChoice::Mode::automatic);
  CHECK_FALSE(said->tied);
  CHECK(said->canary == CanaryUse::automatic);
}

TEST_CASE("the words for policies are written as they are read") {
  for (const char* text : {"auto", "off", "p95", "p50", "p99.9", "p99.99", "10ms", "1500us", "1s"}) {
    CAPTURE(text);
    const auto choice = parse_hedge(text);
    REQUIRE(choice.has_value());
    CHECK(to_text(*choice) == text);
  }
  for (const char* text : {"auto", "always", "off"}) CHECK(to_string(*parse_canary(text)) == text);
  for (const char* text : {"prequal", "least-in-flight", "random"}) CHECK(policy::to_string(*parse_replica_choice(text)) == text);
  for (const char* text : {"", "AUTO", "least_in_flight", "fastest"}) CHECK(parse_replica_choice(text).has_error());
}

TEST_CASE("a parameter given twice is refused, in an address and in a body") {
  for (const auto& refused : {parsed({{"q", "x"}, {"k", "1"}, {"k", "1"}}), parsed_json(R"({"q": "x", "k": 1, "k": 1})")}) {
    REQUIRE(refused.has_error());
    CHECK(refused.error().type == "bad-parameter");
    CHECK(refused.error().parameter == "k");
    CHECK(refused.error().detail.find("twice") != std::string::npos);
  }
}

TEST_CASE("a query that is missing is refused, one that is empty is for the query parser to judge") {
  for (const auto& refused : {parsed({}), parsed({{"k", "3"}}), parsed_json("{}"), parsed_json(R"({"k": 3})")}) {
    REQUIRE(refused.has_error());
    CHECK(refused.error().type == "missing-parameter");
    CHECK(refused.error().parameter == "q");
  }
  CHECK(with("k", "3")->query == "x");
  CHECK(parsed({{"q", ""}}).has_value());
}

TEST_CASE("a JSON body takes texts, and numbers where numbers are meant") {
  const auto parameters = parsed_json(
      R"({"q": "a \"b c\"", "k": 30, "offset": "10", "deadline": "100ms", "fanout": 4, "partial": "deny", "trace": "on"})");
  REQUIRE(parameters.has_value());
  CHECK(parameters->query == "a \"b c\"");
  CHECK(parameters->k == 30);
  CHECK(parameters->offset == 10);
  CHECK(parameters->deadline == 100ms);
  CHECK(parameters->fanout == 4U);
  CHECK(parameters->partial == PartialAnswers::deny);
  CHECK(parameters->trace);
}

TEST_CASE("a JSON body that is none, or holds what no parameter takes, is refused") {
  struct Row {
    const char* body;
    const char* type;
    const char* parameter;
  };
  const Row rows[] = {
      {"", "bad-json", ""},
      {"{", "bad-json", ""},
      {"[]", "bad-json", ""},
      {"\"q\"", "bad-json", ""},
      {"{\"q\": \"\xff\"}", "bad-json", ""},
      {R"({"q": "x"} {})", "bad-json", ""},
      {R"({"q": ["x"]})", "bad-parameter", "q"},
      {R"({"q": null})", "bad-parameter", "q"},
      {R"({"q": "x", "trace": true})", "bad-parameter", "trace"},
      {R"({"q": "x", "k": 1.5})", "bad-parameter", "k"},
      {R"({"q": "x", "k": -3})", "bad-parameter", "k"},
      {R"({"q": "x", "k": 99999999999999999999})", "bad-parameter", "k"},
      {R"({"q": "x", "deadline": 250})", "bad-parameter", "deadline"},
      {R"({"q": "x", "facets": {"role": 3}})", "bad-parameter", "facets"},
      {R"({"q": "x", "hedge": 10})", "bad-parameter", "hedge"},
      {R"({"q": "x", "tied": true})", "bad-parameter", "tied"},
      {R"({"q": "x", "min_completeness": 1.5})", "bad-parameter", "min_completeness"},
      {R"({"q": "x", "size": 3})", "unknown-parameter", "size"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.body);
    const auto refused = parsed_json(row.body);
    REQUIRE(refused.has_error());
    CHECK(refused.error().type == row.type);
    CHECK(refused.error().parameter == row.parameter);
  }
}

TEST_CASE("a refusal repeats at most a little of what was sent") {
  const std::string much(100'000, 'x');
  for (const auto& refused :
       {with("k", much), with(much, "1"), parsed({{much, "1"}, {much, "1"}}), parsed_json(R"({")" + much + R"(": null})"),
        parsed_json(R"({")" + much + R"(": "a", ")" + much + R"(": "b"})")}) {
    REQUIRE(refused.has_error());
    CHECK(refused.error().detail.size() < 300);
    CHECK(refused.error().parameter.size() < 100);
  }
}

TEST_CASE("a body nested a hundred thousand deep is refused, and harms nothing") {
  const std::string deep(100'000, '[');
  CHECK(parsed_json(deep).has_error());
  CHECK(parsed_json(R"({"q": )" + deep + std::string(deep.size(), ']') + "}").has_error());
}

}  // namespace hedgerow::root
