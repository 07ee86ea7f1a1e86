#include "leaf/fault.hpp"

#include <doctest/doctest.h>

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

result<std::string> no_files(const std::string&) { return Error{Errc::invalid_argument, "no files here"}; }

result<std::vector<Fault>> read_faults(const json& value) { return parse_faults(value, no_files); }

}  // namespace

TEST_CASE("faults are read from a list, or from what a listing says") {
  for (const char* text : {R"([{"kind": "late", "delay": "200ms", "probability": 0.5, "seed": 7, "word": "editor"}])",
                           R"({"faults": [{"kind": "late", "delay": "200ms", "probability": 0.5, "seed": 7, "word": "editor",
                                           "applied": 12, "state": "active", "remaining": "3ms"}]})"}) {
    const auto faults = read_faults(json::parse(text));
    REQUIRE(faults.has_value());
    REQUIRE(faults->size() == 1);
    const Fault& fault = faults->front();
    CHECK(fault.kind == FaultKind::late);
    CHECK(fault.delay.is_constant());
    CHECK(fault.delay.quantile(0.5) == 200ms);
    CHECK(fault.probability == 0.5);
    CHECK(fault.per == DrawnPer::work);
    CHECK(fault.seed == 7);
    CHECK(fault.word == "editor");
  }
  CHECK(read_faults(json::array())->empty());
}

TEST_CASE("every field is read") {
  const auto faults = read_faults(json::parse(
      R"([{"kind": "hold", "delay": "pareto:1ms,1.5,cap=1s", "per": "query", "partitions": [3, 5], "work": ["search", "fetch"],
           "query": "edit* -section:games", "after": "1s", "for": "10s"},
          {"kind": "background", "period": "2s", "length": "100ms", "phase": "300ms", "takes": "processor", "threads": 3, "for": "1m"},
          {"kind": "background", "period": "1s", "length": "10ms", "phase": "staggered"},
          {"kind": "background", "period": "1s", "length": "10ms"},
          {"kind": "burn", "delay": {"empirical": ["1ms", ["2ms", 3]]}}])"));
  REQUIRE_MESSAGE(faults.has_value(), faults.error().context);
  const Fault& hold = (*faults)[0];
  CHECK(hold.kind == FaultKind::hold);
  CHECK(hold.delay.text() == "pareto:1ms,1.5,cap=1s");
  CHECK(hold.per == DrawnPer::query);
  CHECK(hold.partitions == std::vector{PartitionId{3}, PartitionId{5}});
  CHECK(hold.work == std::vector{WorkKind::search, WorkKind::fetch});
  REQUIRE(hold.query.has_value());
  CHECK(hold.query->text() == "edit* -section:games");
  CHECK(hold.after == 1s);
  CHECK(hold.lasting == std::optional<Duration>(10s));
  const Fault& burning = (*faults)[1];
  CHECK(burning.background.period == 2s);
  CHECK(burning.background.length == 100ms);
  CHECK(burning.background.phase == BackgroundWork::Phase::given);
  CHECK(burning.background.given_phase == 300ms);
  CHECK(burning.background.takes == BackgroundWork::Takes::processor);
  CHECK(burning.background.threads == 3);
  CHECK(burning.lasting == std::optional<Duration>(1min));
  CHECK((*faults)[2].background.phase == BackgroundWork::Phase::staggered);
  CHECK((*faults)[3].background.phase == BackgroundWork::Phase::aligned);
  CHECK((*faults)[3].background.takes == BackgroundWork::Takes::workers);
  CHECK((*faults)[4].delay.quantile(0.5) == 2ms);
}

TEST_CASE("every kind has its word, and what is listed of it can be sent back") {
  json all = json::array();
  for (const auto kind : fault_kinds) {
    json fault{{"kind", to_string(kind)}};
    if (has_delay(kind)) fault["delay"] = "1500us";
    if (kind == FaultKind::background) fault.update({{"period", "1s"}, {"length", "1ms"}});
    all.push_back(fault);
  }
  for (const char* more : {R"({"kind": "error", "probability": 0.25, "seed": 18446744073709551615})", R"({"kind": "crash", "word": "b"})",
                           R"({"kind": "refused", "per": "query", "partitions": [0], "work": ["facets"], "query": "a*", "after": "1s", "for": "2s"})",
                           R"({"kind": "late", "delay": {"mix": [[0.5, "1ms"], [0.5, {"empirical": ["2ms"]}]]}})",
                           R"({"kind": "background", "period": "3s", "length": "5ms", "phase": "staggered", "takes": "processor", "threads": 2})"}) {
    all.push_back(json::parse(more));
  }
  const auto faults = read_faults(all);
  REQUIRE_MESSAGE(faults.has_value(), faults.error().context);
  json listed = json::array();
  for (const auto& fault : *faults) listed.push_back(to_json(fault));
  const auto again = read_faults(listed);
  REQUIRE_MESSAGE(again.has_value(), again.error().context);
  REQUIRE(again->size() == all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(to_json((*again)[i]) == listed[i]);
    // What was said is in the listing as it was said, beside the defaults.
    for (const auto& [name, value] : all[i].items()) CHECK_MESSAGE(listed[i][name] == value, listed[i].dump());
  }
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
      {R"({"kind": "late"})", "'delay' is missing"},
      {R"({"kind": "hold"})", "'delay' is missing"},
      {R"({"kind": "burn"})", "'delay' is missing"},
      {R"({"kind": "late", "delay": 200})", "'delay'"},
      {R"({"kind": "late", "delay": "200"})", "'delay'"},
      {R"({"kind": "late", "delay": "-1ms"})", "'delay'"},
      {R"({"kind": "late", "delay": "normal:1ms,1"})", "'delay'"},
      {R"({"kind": "late", "delay": "empirical:/etc/passwd"})", "'delay': no files here"},
      {R"({"kind": "error", "delay": "1ms"})", "'delay' makes no sense"},
      {R"({"kind": "pause", "delay": "1ms"})", "'delay' makes no sense"},
      {R"({"kind": "error", "probability": 1.01})", "'probability'"},
      {R"({"kind": "error", "probability": -0.1})", "'probability'"},
      {R"({"kind": "error", "probability": "1"})", "'probability'"},
      {R"({"kind": "error", "per": "leaf"})", "'per' is none of work, query"},
      {R"({"kind": "error", "seed": -1})", "'seed'"},
      {R"({"kind": "error", "seed": 1.5})", "'seed'"},
      {R"({"kind": "error", "partitions": 3})", "'partitions'"},
      {R"({"kind": "error", "partitions": []})", "'partitions'"},
      {R"({"kind": "error", "partitions": [-1]})", "'partitions'"},
      {R"({"kind": "error", "partitions": [4294967296]})", "'partitions'"},
      {R"({"kind": "error", "word": ""})", "'word'"},
      {R"({"kind": "error", "word": 7})", "'word'"},
      {R"({"kind": "error", "query": 7})", "'query'"},
      {R"({"kind": "error", "query": " "})", "'query' has no pattern"},
      {R"({"kind": "pause", "word": "a"})", "'word' makes no sense"},
      {R"({"kind": "pause", "query": "a"})", "'query' makes no sense"},
      {R"({"kind": "pause", "work": ["search"]})", "'work' makes no sense"},
      {R"({"kind": "pause", "partitions": [1]})", "'partitions' makes no sense"},
      {R"({"kind": "pause", "probability": 0.5})", "'probability' makes no sense"},
      {R"({"kind": "error", "work": "search"})", "'work'"},
      {R"({"kind": "error", "work": []})", "'work'"},
      {R"({"kind": "error", "work": ["search", "searches"]})", "\"searches\""},
      {R"({"kind": "error", "work": ["search", 7]})", "'work': 7"},
      {R"({"kind": "error", "after": 5})", "'after'"},
      {R"({"kind": "error", "for": "soon"})", "'for'"},
      {R"({"kind": "error", "for": "0ms"})", "'for' is not above 0"},
      {R"({"kind": "error", "period": "1s"})", "'period' makes no sense"},
      {R"({"kind": "background", "length": "1ms"})", "'period' is missing"},
      {R"({"kind": "background", "period": "1s"})", "'length' is missing"},
      {R"({"kind": "background", "period": "1s", "length": "1s"})", "'length'"},
      {R"({"kind": "background", "period": "1s", "length": "999us"})", "'length'"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "phase": "random"})", "'phase'"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "phase": 5})", "'phase'"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "takes": "memory"})", "'takes'"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "takes": "processor", "threads": 0})", "'threads'"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "takes": "processor", "threads": 257})", "'threads'"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "threads": 2})", "'threads' makes no sense"},
      {R"({"kind": "background", "period": "1s", "length": "1ms", "probability": 0.5})", "'probability' makes no sense"},
      {R"({"kind": "error", "chance": 0.5})", "'chance'"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.fault);
    const auto faults = read_faults(json::parse(R"([{"kind": "error"}, )" + std::string(row.fault) + "]"));
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
    CHECK(read_faults(json::parse(text)).has_error());
  }
  json many = json::array();
  for (std::size_t i = 0; i < most_faults; ++i) many.push_back({{"kind", "error"}});
  CHECK(read_faults(many).has_value());
  many.push_back({{"kind", "error"}});
  CHECK(read_faults(many).error().code == Errc::too_large);

  const json half{{"kind", "background"}, {"period", "1s"}, {"length", "1ms"}, {"takes", "processor"}, {"threads", 128u}};
  CHECK(read_faults({half, half}).has_value());
  const auto threads = read_faults({half, half, {{"kind", "background"}, {"period", "1s"}, {"length", "1ms"}, {"takes", "processor"}}});
  REQUIRE(threads.has_error());
  CHECK(threads.error().code == Errc::too_large);
  CHECK(threads.error().context.find("fault 3: 'threads'") != std::string::npos);
}

TEST_CASE("the names of all kinds of work are read once each, and listed as they were given") {
  const auto faults = read_faults(json::parse(
      R"([{"kind": "error", "work": ["lookup", "fetch", "search", "snippets", "spelling", "facets", "fetch"]}])"));
  REQUIRE(faults.has_value());
  CHECK(to_json(faults->front())["work"] == json({"lookup", "fetch", "search", "snippets", "spelling", "facets"}));
  CHECK_FALSE(to_json(Fault{}).contains("work"));
}

TEST_CASE("whatever stands in a field, a fault is read or refused by that field's name, and what is read can be sent back") {
  const json odd_values = json::parse(
      R"([null, true, -1, 0, 1, 0.5, 1e300, 18446744073709551615, "", "x", "5ms", "0ms", "work", "query", "aligned", "processor",
          "mix:1*1ms", "empirical:x", [], [0], [[]], ["search"], ["1ms"], {}, {"empirical": ["1ms"]}, {"empirical": [["1ms", -1]]},
          {"mix": [[1, "1ms"]]}, {"mix": [[1]]}, {"a": {"b": []}}])");
  std::size_t read = 0, refused = 0;
  for (const auto kind : fault_kinds) {
    for (const char* field : {"kind", "delay", "probability", "per", "seed", "partitions", "work", "word", "query", "after", "for",
                              "period", "length", "phase", "takes", "threads", "applied", "state", "remaining", "other"}) {
      for (const json& value : odd_values) {
        json fault{{"kind", to_string(kind)}};
        if (has_delay(kind)) fault["delay"] = "1ms";
        if (kind == FaultKind::background) fault.update({{"period", "1s"}, {"length", "2ms"}});
        fault[field] = value;
        CAPTURE(fault.dump());
        const auto faults = read_faults(json::array({fault}));
        if (faults.has_error()) {
          ++refused;
          CHECK(faults.error().context.find("'" + std::string(field) + "'") != std::string::npos);
          continue;
        }
        ++read;
        const json listed = to_json(faults->front());
        const auto again = read_faults(json::array({listed}));
        REQUIRE_MESSAGE(again.has_value(), again.error().context);
        CHECK(to_json(again->front()) == listed);
      }
    }
  }
  CHECK(read > 500);
  CHECK(refused > 3'000);
}

}  // namespace hedgerow::leaf
