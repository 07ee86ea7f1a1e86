#include "lab/cluster_faults.hpp"

#include <doctest/doctest.h>

namespace hedgerow::lab {

namespace {

using nlohmann::json;

const std::vector<std::string> four_leaves{"leaf-0", "leaf-1", "leaf-2", "leaf-3"};

result<std::string> no_samples(const std::string&) { return Error{Errc::invalid_argument, "no files"}; }
result<std::string> two_samples(const std::string&) { return std::string("1ms\n2ms 3\n"); }

result<std::vector<json>> cut_up(const char* text) { return faults_by_leaf(json::parse(text), four_leaves, no_samples); }

}  // namespace

TEST_CASE("a fault is for every leaf, for those named, or for the one of that number, and the others get an empty list") {
  const auto by_leaf = cut_up(R"([{"kind": "error", "probability": 0.5}, {"kind": "pause", "leaves": ["leaf-3", "leaf-1", "leaf-3"]},
                                  {"kind": "refused", "leaf": 3}])");
  REQUIRE_MESSAGE(by_leaf.has_value(), by_leaf.error().context);
  const auto kinds = [&](std::size_t leaf) {
    std::string words;
    for (const auto& fault : (*by_leaf)[leaf]) words += (words.empty() ? "" : " ") + fault["kind"].get<std::string>();
    return words;
  };
  CHECK(kinds(0) == "error");
  CHECK(kinds(1) == "error pause");
  CHECK(kinds(2) == "error");
  CHECK(kinds(3) == "error pause refused");
  for (const auto& faults : *by_leaf) {
    CHECK(faults[0]["probability"] == 0.5);
    for (const auto& fault : faults) {
      CHECK_FALSE(fault.contains("leaf"));
      CHECK_FALSE(fault.contains("leaves"));
    }
  }
  CHECK(*cut_up("[]") == std::vector<json>(4, json::array()));
  CHECK((*cut_up(R"({"faults": [{"kind": "crash", "leaf": 0}]})"))[0].size() == 1);
}

TEST_CASE("staggered background work is spread evenly over the leaves that it is for, and aligned work is left alone") {
  const auto all = cut_up(R"([{"kind": "background", "period": "1s", "length": "10ms", "phase": "staggered"}])");
  REQUIRE(all.has_value());
  const char* quarters[] = {"0ms", "250ms", "500ms", "750ms"};
  for (std::size_t leaf = 0; leaf < 4; ++leaf) CHECK((*all)[leaf][0]["phase"] == quarters[leaf]);

  const auto two = cut_up(R"([{"kind": "background", "period": "1s", "length": "10ms", "phase": "staggered", "leaves": ["leaf-2", "leaf-1"]},
                              {"kind": "background", "period": "1s", "length": "10ms", "phase": "aligned"}])");
  REQUIRE(two.has_value());
  CHECK((*two)[2][0]["phase"] == "0ms");
  CHECK((*two)[1][0]["phase"] == "500ms");
  for (const auto& faults : *two) CHECK(faults.back()["phase"] == "aligned");
}

TEST_CASE("measured delays are carried along") {
  const json faults = json::parse(R"([{"kind": "late", "delay": "empirical:measured.txt", "leaf": 1}, {"kind": "hold", "delay": "2ms"}])");
  const auto by_leaf = faults_by_leaf(faults, four_leaves, two_samples);
  REQUIRE(by_leaf.has_value());
  CHECK((*by_leaf)[1][0]["delay"] == json::parse(R"({"empirical": ["1ms", ["2ms", 3.0]]})"));
  CHECK((*by_leaf)[1][1]["delay"] == "2ms");
}

TEST_CASE("what is wrong with a fault names it, and no leaf gets anything") {
  struct Row {
    const char* faults;
    const char* named;
  };
  const Row rows[] = {
      {R"(5)", "list of faults"},
      {R"([{"kind": "error"}, 5])", "fault 2"},
      {R"([5, {"kind": "error", "leaf": 4}])", "fault 2: 'leaf'"},
      {R"([{"kind": "error"}, {"kind": "late"}])", "fault 2: 'delay' is missing"},
      {R"([{"kind": "error", "leaf": 4}])", "fault 1: 'leaf'"},
      {R"([{"kind": "error", "leaf": "leaf-1"}])", "fault 1: 'leaf'"},
      {R"([{"kind": "error", "leaves": "leaf-1"}])", "fault 1: 'leaves'"},
      {R"([{"kind": "error", "leaves": []}])", "fault 1: 'leaves'"},
      {R"([{"kind": "error", "leaves": ["leaf-1", "leaf-4"]}])", "\"leaf-4\""},
      {R"([{"kind": "error", "leaf": 1, "leaves": ["leaf-1"]}])", "one too many"},
      {R"([{"kind": "late", "delay": "empirical:x"}])", "fault 1: 'delay': no files"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.faults);
    const auto by_leaf = cut_up(row.faults);
    REQUIRE(by_leaf.has_error());
    CHECK_MESSAGE(by_leaf.error().context.find(row.named) != std::string::npos, by_leaf.error().context);
  }
}

}  // namespace hedgerow::lab
