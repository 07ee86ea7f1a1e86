// Spelling, snippets and facets through a real root and real leaves: right where nothing is wrong, named where something
// is, and never at the cost of the hits. Expected counts follow from how the shelf index is made.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cluster_fixture.hpp"
#include "index/partition_of.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

ClusterOptions shelf(std::size_t replicas) {
  return {.index = shelf_index().directory, .replicas = replicas, .allow_faults = true};
}

// Waits for subsystems as long as it takes: what is late here is not the machine's.
json answer_of(TestCluster& cluster, const std::string& query, const lab::SearchParameters& more = {}) {
  lab::SearchParameters parameters{{"deadline", "20s"}, {"grace", "20s"}};
  parameters.insert(parameters.end(), more.begin(), more.end());
  const auto reply = cluster.search(query, parameters);
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json();
}

std::string status(const json& answer, const char* subsystem) { return answer["subsystems"][subsystem]["status"]; }

// The most frequent ten of the values that these documents have.
json counted(const std::vector<std::size_t>& documents, const std::function<std::string(std::size_t)>& value_of) {
  std::map<std::string, int> counts;
  for (const auto number : documents) ++counts[value_of(number)];
  std::vector<std::pair<std::string, int>> order(counts.begin(), counts.end());
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  json out = json::array();
  for (std::size_t i = 0; i < order.size() && i < 10; ++i) out.push_back({{"value", order[i].first}, {"count", order[i].second}});
  return out;
}

std::vector<std::size_t> numbers_where(const std::function<bool(std::size_t)>& wanted) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < shelf_documents; ++i) {
    if (wanted(i)) numbers.push_back(i);
  }
  return numbers;
}

std::string shelf_of(std::size_t number) { return "s" + std::to_string(number % 20); }
std::string year_of(std::size_t number) { return std::to_string(1900 + number % 10); }

std::vector<std::string> ids(const json& answer) {
  std::vector<std::string> out;
  for (const auto& hit : answer["hits"]) out.push_back(hit["id"]);
  return out;
}

}  // namespace

TEST_CASE("facets are the counts over all matching documents, in every form in which they are asked for") {
  TestCluster cluster(shelf(2));
  const auto novels = numbers_where([](auto i) { return shelf_section(i) == "novel"; });
  for (const auto& answer :
       {answer_of(cluster, "novel", {{"facets", "section,shelf,year"}}),
        cluster.ask("POST", "/v1/search", R"({"q": "novel", "deadline": "20s", "grace": "20s", "facets": "section,shelf,year"})").json()}) {
    CHECK(status(answer, "facets") == "ok");
    REQUIRE(answer["facets"].size() == 3);
    CHECK(answer["facets"]["section"]["counts"] == counted(novels, shelf_section));
    CHECK(answer["facets"]["shelf"]["counts"] == counted(novels, shelf_of));
    CHECK(answer["facets"]["shelf"]["values"] == 20);
    CHECK(answer["facets"]["year"]["counts"] == counted(novels, year_of));
    for (const auto& facet : answer["facets"]) {
      CHECK(facet["partial"] == false);
      CHECK(facet["cut"] == false);
    }
  }
  // Of a filter, and of a query that matches nothing; auto counts what is a category.
  const auto nineteen_three = numbers_where([](auto i) { return i % 10 == 3; });
  const auto filtered = answer_of(cluster, "common year:1903", {{"facets", "auto"}});
  CHECK(filtered["facets"]["section"]["counts"] == counted(nineteen_three, shelf_section));
  CHECK(filtered["facets"]["shelf"]["counts"] == counted(nineteen_three, shelf_of));
  CHECK_FALSE(filtered["facets"].contains("year"));
  const auto nothing = answer_of(cluster, "nowhere", {{"facets", "section"}});
  CHECK(nothing["facets"]["section"]["counts"].empty());
  CHECK(status(nothing, "facets") == "ok");
  // Fewer partitions: fewer documents, and said so.
  const auto narrow = answer_of(cluster, "common", {{"facets", "section"}, {"fanout", "3"}});
  CHECK(narrow["facets"]["section"]["partial"] == true);
  std::uint64_t sum = 0;
  for (const auto& entry : narrow["facets"]["section"]["counts"]) sum += entry["count"].get<std::uint64_t>();
  CHECK(sum == narrow["completeness"]["documents"]["searched"].get<std::uint64_t>());
}

TEST_CASE("snippets mark the query's words, and hostile text in a document stays text") {
  TestCluster cluster(shelf(2));
  const auto answer = answer_of(cluster, "novel", {{"k", "80"}});
  CHECK(status(answer, "snippets") == "ok");
  REQUIRE(answer["hits"].size() == 80);
  for (const auto& hit : answer["hits"]) {
    const auto snippet = hit["snippet"].get<std::string>();
    CAPTURE(snippet);
    CHECK(snippet.find("<b>novel</b>") != std::string::npos);
    CHECK(snippet.find("&lt;script&gt;") != std::string::npos);
    CHECK(snippet.find("<script") == std::string::npos);
    CHECK(snippet.find("&amp; more") != std::string::npos);
  }
  const auto paged = answer_of(cluster, "novel", {{"k", "5"}, {"offset", "40"}});
  for (std::size_t i = 0; i < 5; ++i) CHECK(paged["hits"][i]["snippet"] == answer["hits"][40 + i]["snippet"]);
}

TEST_CASE("a slip of the pen is answered by what was probably meant, and what is well known is left alone") {
  TestCluster cluster(shelf(2));
  const auto answer = answer_of(cluster, "+comon -(\"a b\") Novle");
  CHECK(status(answer, "spelling") == "ok");
  CHECK(answer["spelling"]["suggestion"] == "+common -(\"a b\") novel");
  const auto known = answer_of(cluster, "common novel");
  CHECK(status(known, "spelling") == "ok");
  CHECK_FALSE(known.contains("spelling"));
  const auto strange = answer_of(cluster, "qqqqzzzz");
  CHECK(status(strange, "spelling") == "ok");
  CHECK_FALSE(strange.contains("spelling"));
}

TEST_CASE("what is not wanted is off, and costs the leaves nothing") {
  TestCluster cluster(shelf(1));
  const auto answer = answer_of(cluster, "comon novel", {{"spelling", "off"}, {"snippets", "off"}, {"facets", "off"}});
  for (const char* subsystem : {"spelling", "snippets", "facets"}) {
    CHECK(status(answer, subsystem) == "off");
    for (const auto& leaf : cluster.leaves()) {
      CHECK(cluster.metric(leaf, std::string("hedgerow_leaf_work_executed_total{work=\"") + subsystem + "\"}") == 0);
    }
    CHECK(cluster.metric("root", std::string("hedgerow_root_subsystem_queries_total{status=\"off\",subsystem=\"") + subsystem + "\"}") == 1);
  }
  CHECK_FALSE(answer.contains("facets"));
  CHECK_FALSE(answer["hits"][0].contains("snippet"));
  TestCluster silent({.index = shelf_index().directory, .spellers = 0});
  CHECK(status(answer_of(silent, "comon"), "spelling") == "off");
}

TEST_CASE("when a leaf is stopped, counts are partial and right for the rest, and the hits of the rest have their snippets (trap 10)") {
  TestCluster cluster({.index = shelf_index().directory, .root_arguments = {"--link-idle-time=1h"}, .leaf_arguments = {"--idle-time=1h"}});
  answer_of(cluster, "common", {{"facets", "section"}});
  const auto gone = cluster.partitions_of("leaf-2");
  cluster.act("leaf-2", "stop");
  const auto reply = cluster.search("common", {{"deadline", format_duration(scaled(1s))}, {"facets", "section"}, {"grace", "10s"}, {"k", "240"}});
  REQUIRE(reply.status == 200);
  const auto answer = reply.json();
  CHECK(missing_of(answer) == all_for(gone, "late"));
  CHECK(status(answer, "facets") == "late");
  const auto rest = numbers_where([&](auto i) {
    return std::find(gone.begin(), gone.end(), partition_of(shelf_id(i), 8).value) == gone.end();
  });
  CHECK(answer["facets"]["section"]["partial"] == true);
  CHECK(answer["facets"]["section"]["counts"] == counted(rest, shelf_section));
  CHECK(answer["hits"].size() == rest.size());
  for (const auto& hit : answer["hits"]) CHECK(hit.contains("snippet"));
  cluster.act("leaf-2", "continue");
}

TEST_CASE("whatever fails of the optional, the hits are the same, and the failure is named (trap 3)") {
  TestCluster cluster(shelf(2));
  const lab::SearchParameters all{{"facets", "section"}, {"k", "20"}};
  const auto healthy = answer_of(cluster, "comon novel", all);
  for (const std::string work : {"spelling", "snippets", "facets"}) {
    CAPTURE(work);
    for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "error"}, {"work", {work}}}});
    const auto answer = answer_of(cluster, "comon novel", all);
    CHECK(answer["finished"] == "complete");
    CHECK(answer["completeness"]["fraction"] == 1.0);
    CHECK(ids(answer) == ids(healthy));
    for (const char* other : {"spelling", "snippets", "facets"}) CHECK(status(answer, other) == (work == other ? "failed" : "ok"));
    if (work == "snippets") CHECK_FALSE(answer["hits"][0].contains("snippet"));
    if (work == "spelling") CHECK_FALSE(answer.contains("spelling"));
    if (work == "facets") CHECK(answer["facets"]["section"]["partial"] == true);
  }
  // One replica that fails is made good by the other.
  for (const auto& leaf : cluster.leaves()) cluster.clear_faults(leaf);
  cluster.set_faults("leaf-0", {{{"kind", "error"}, {"work", {"spelling", "snippets", "facets"}}}});
  for (int i = 0; i < 10; ++i) {
    const auto answer = answer_of(cluster, "comon novel", all);
    for (const char* subsystem : {"spelling", "snippets", "facets"}) CHECK(status(answer, subsystem) == "ok");
    CHECK(answer["facets"] == healthy["facets"]);
  }
}

TEST_CASE("a speller that dies is made good by the other one") {
  TestCluster cluster(shelf(2));
  answer_of(cluster, "comon");
  cluster.act("leaf-0", "kill");
  REQUIRE(cluster.stops_serving("leaf-0", 10s));
  const auto answer = answer_of(cluster, "comon");
  CHECK(status(answer, "spelling") == "ok");
  CHECK(answer["spelling"]["suggestion"] == "common");
}

TEST_CASE("a speller 300 ms late is late or skipped in every answer, with any deadline and from the first on, and hits are whole") {
  TestCluster cluster(shelf(1));
  for (const auto& leaf : cluster.leaves()) {
    cluster.set_faults(leaf, {{{"kind", "late"}, {"delay", format_duration(scaled(300ms))}, {"work", {"spelling"}}}});
  }
  std::map<std::string, int> statuses;
  for (const Duration deadline : {250ms, 1000ms}) {
    for (int i = 0; i < 40; ++i) {
      const auto reply = cluster.search("comon novel word" + std::to_string(i), {{"deadline", format_duration(scaled(deadline))}});
      REQUIRE(reply.status == 200);
      const auto answer = reply.json();
      ++statuses[status(answer, "spelling")];
      CHECK(answer["finished"] == "complete");
      CHECK(hits_are_whole(answer));
      CHECK_FALSE(answer.contains("spelling"));
      CHECK(reply.header("Server-Timing").find("spelling;dur=") != std::string::npos);
    }
  }
  CHECK(statuses["late"] + statuses["skipped"] == 80);
  CHECK(statuses["skipped"] >= 15);  // once some fifty came to nothing
  const auto told = cluster.cluster()["subsystems"]["spelling"];
  CHECK(told["samples"].get<int>() >= 1);
  CHECK(told["p95_ms"].is_null());  // too much was given up to know

  // Well again, it is noticed by the next one that is let through.
  for (const auto& leaf : cluster.leaves()) cluster.clear_faults(leaf);
  CHECK(eventually(15s, [&] { return status(answer_of(cluster, "comon novel"), "spelling") == "ok"; }));
  CHECK(status(answer_of(cluster, "comon novel"), "spelling") == "ok");
}

TEST_CASE("with no time at all, the optional is not there and the answer is as it would be without it") {
  TestCluster cluster(shelf(1));
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "hold"}, {"delay", "20ms"}}});
  for (int i = 0; i < 20; ++i) {
    const auto reply = cluster.search("comon novel", {{"deadline", "1ms"}, {"facets", "auto"}, {"grace", "20s"}});
    CHECK((reply.status == 504 || reply.status == 200));
    if (reply.status != 200) continue;
    CHECK(reply.json()["finished"] != "complete");
    CHECK(status(reply.json(), "facets") != "ok");
  }
}
