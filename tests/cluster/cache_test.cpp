// The results cache of a real root: complete answers only, never those of another topology's or synonyms' time.
#include <doctest/doctest.h>

#include <fstream>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

const lab::SearchParameters patient{{"deadline", "20s"}, {"grace", "20s"}};

json answer_within(TestCluster& cluster, const std::string& query, lab::SearchParameters parameters = patient) {
  const auto reply = cluster.search(query, parameters);
  REQUIRE_MESSAGE(reply.status == 200, reply.error, reply.body);
  return reply.json();
}

lab::SearchParameters with(const std::string& name, const std::string& value) {
  auto parameters = patient;
  parameters.emplace_back(name, value);
  return parameters;
}

}  // namespace

TEST_CASE("the same question is answered from the cache, with the same hits, and says so") {
  TestCluster cluster({.index = shelf_index().directory, .replicas = 2, .cache_bytes = 1 << 20});
  const auto first = answer_within(cluster, "comon novel", with("facets", "section"));
  CHECK(first["cache"] == "miss");
  const double executed = cluster.metric("leaf-0", "hedgerow_leaf_work_executed_total{work=\"search\"}");
  const auto again = answer_within(cluster, "comon novel", {{"deadline", "7s"}, {"facets", "section"}});
  CHECK(again["cache"] == "hit");
  for (const char* part : {"hits", "total", "facets", "spelling", "completeness", "finished", "query"}) CHECK(again[part] == first[part]);
  CHECK(again["deadline_ms"] == 7000.0);
  CHECK(again["attempts"]["primary"] == 0);
  CHECK(cluster.metric("leaf-0", "hedgerow_leaf_work_executed_total{work=\"search\"}") == executed);
  CHECK(cluster.metric("root", "hedgerow_root_cache_hits_total") == 1);
  CHECK(cluster.metric("root", "hedgerow_root_cache_misses_total") == 1);
  CHECK(cluster.metric("root", "hedgerow_root_cache_bytes") > 0);

  CHECK(answer_within(cluster, "comon novel", with("k", "3"))["cache"] == "miss");
  CHECK(answer_within(cluster, "comon novel")["cache"] == "miss");  // without facets
  CHECK(answer_within(cluster, "comon novel", with("cache", "off"))["cache"] == "off");
  CHECK(answer_within(cluster, "comon novel", with("trace", "on"))["cache"] == "off");
  CHECK(answer_within(cluster, "comon novel")["cache"] == "hit");
}

TEST_CASE("an answer that lacks anything is never kept") {
  TestCluster cluster({.index = shelf_index().directory, .allow_faults = true, .cache_bytes = 1 << 20});
  const std::string deadline = format_duration(scaled(2s));
  cluster.set_faults("leaf-1", {{{"kind", "late"}, {"delay", "30s"}, {"work", {"search"}}}});
  for (int i = 0; i < 2; ++i) {
    const auto partial = answer_within(cluster, "novel", {{"deadline", deadline}});
    CHECK(partial["finished"] == "deadline");
    CHECK(partial["cache"] == "miss");
  }
  cluster.set_faults("leaf-1", {{{"kind", "error"}, {"work", {"snippets"}}}});
  for (int i = 0; i < 2; ++i) {
    const auto without = answer_within(cluster, "novel", with("k", "240"));
    CHECK(without["finished"] == "complete");
    CHECK(without["subsystems"]["snippets"]["status"] == "failed");
    CHECK(without["cache"] == "miss");
  }
  cluster.clear_faults("leaf-1");
  CHECK(answer_within(cluster, "novel")["cache"] == "miss");
  CHECK(answer_within(cluster, "novel")["cache"] == "hit");
}

TEST_CASE("a small cache stays small") {
  TestCluster cluster({.index = shelf_index().directory, .cache_bytes = 20'000});
  for (int i = 0; i < 40; ++i) answer_within(cluster, "word" + std::to_string(i));
  CHECK(cluster.metric("root", "hedgerow_root_cache_bytes") <= 20'000);
  CHECK(cluster.metric("root", "hedgerow_root_cache_evictions_total") > 0);
  CHECK(answer_within(cluster, "word39")["cache"] == "hit");
  CHECK(answer_within(cluster, "word0")["cache"] == "miss");
}

TEST_CASE("synonyms are read again on SIGHUP, a broken file changes nothing, and no answer of the old ones is given") {
  const auto file = std::filesystem::temp_directory_path() / ("hedgerow-synonyms-" + std::to_string(::getpid()));
  const auto write = [&](const std::string& text) { std::ofstream(file, std::ios::trunc) << text; };
  write("tome => novel\n");
  TestCluster cluster({.index = shelf_index().directory, .cache_bytes = 1 << 20, .root_arguments = {"--synonyms=" + file.string()}});
  const auto total = [&] { return answer_within(cluster, "tome", {{"deadline", "20s"}, {"grace", "20s"}, {"k", "240"}})["hits"].size(); };
  CHECK(total() == 80);
  CHECK(total() == 80);
  write("tome => novel, poem\n");
  cluster.reload();
  CHECK(eventually(10s, [&] { return total() == 160; }));
  write("tome => => =>\n");
  cluster.reload();
  CHECK(eventually(10s, [&] { return cluster.log("root").find("synonyms_unreadable") != std::string::npos; }));
  CHECK(total() == 160);
  std::filesystem::remove(file);
}
