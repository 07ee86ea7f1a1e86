// An answer says what it looked at: fan-out width, leaves that are late, partitions that nobody holds, topologies that
// change.
#include <doctest/doctest.h>

#include <set>

#include "cluster_fixture.hpp"
#include "traffic.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

using nlohmann::json;

std::vector<std::uint32_t> partitions_of(TestCluster& cluster, const std::vector<std::string>& leaves) {
  std::vector<std::uint32_t> all;
  for (const auto& leaf : leaves) {
    const auto some = cluster.partitions_of(leaf);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

TEST_CASE("one leaf late of four and three late of four look different, and both are told exactly") {
  TestCluster cluster({.allow_faults = true});
  cluster.search(synthetic_query(5), {{"deadline", "20s"}});
  const json late{{{"kind", "late"}, {"delay", "30s"}}};
  const std::string deadline = format_duration(scaled(1s));
  std::vector<std::string> late_leaves;
  for (const char* leaf : {"leaf-3", "leaf-0", "leaf-1"}) {
    cluster.set_faults(leaf, late);
    late_leaves.push_back(leaf);
    if (late_leaves.size() == 2) continue;
    const auto partitions = partitions_of(cluster, late_leaves);
    const double fraction = synthetic_index().fraction_without(partitions);
    const auto reply = cluster.search(synthetic_query(5), {{"deadline", deadline}});
    REQUIRE(reply.status == 200);
    const auto answer = reply.json();
    CHECK(answer["finished"] == "deadline");
    const auto& completeness = answer["completeness"];
    CHECK(missing_of(answer) == all_for(partitions, "late"));
    CHECK(completeness["fraction"].get<double>() == fraction);
    CHECK(completeness["of_asked"].get<double>() == fraction);
    CHECK(completeness["partitions"] == json{{"total", 8}, {"asked", 8}, {"answered", 8 - partitions.size()}});
    CHECK(completeness["documents"]["total"] == 3000);
    CHECK(completeness["documents"]["searched"].get<double>() == doctest::Approx(3000 * fraction));
    CHECK(reply.header("Hedgerow-Completeness") == completeness_header(fraction));
    CHECK(reply.header("Cache-Control") == "no-store");
    CHECK(answer["total"]["relation"] == "estimate");
  }
}

TEST_CASE("fanout asks exactly so many partitions, the same for the same query, and says which it did not ask") {
  TestCluster cluster;
  std::set<std::vector<std::uint32_t>> choices;
  for (const std::size_t width : {1, 3, 7, 8, 20}) {
    for (std::uint64_t query = 0; query < 6; ++query) {
      const auto ask = [&] {
        return cluster.search(synthetic_query(query), {{"deadline", "20s"}, {"fanout", std::to_string(width)}}).json();
      };
      const auto answer = ask();
      const std::size_t asked = std::min<std::size_t>(width, 8);
      CHECK(answer["finished"] == "complete");
      CHECK(answer["attempts"]["primary"] == asked);
      const auto& completeness = answer["completeness"];
      CHECK(completeness["of_asked"] == 1.0);
      CHECK(completeness["partitions"] == json{{"total", 8}, {"asked", asked}, {"answered", asked}});
      const auto missing = missing_of(answer);
      CHECK(missing.size() == 8 - asked);
      std::vector<std::uint32_t> not_asked;
      for (const auto& [partition, reason] : missing) {
        CHECK(reason == "not_asked");
        not_asked.push_back(partition);
      }
      CHECK(completeness["fraction"].get<double>() == synthetic_index().fraction_without(not_asked));
      CHECK(missing_of(ask()) == missing);
      if (width == 3) choices.insert(not_asked);
    }
  }
  CHECK(choices.size() > 1);  // different queries spread
}

TEST_CASE("a partition that no leaf holds is named, and the answer is no success (trap 8)") {
  TestCluster cluster;
  auto topology = cluster.topology();
  const auto gone = cluster.partitions_of("leaf-2");
  topology["leaves"].erase(2);
  cluster.write_topology(topology.dump());
  cluster.reload();
  REQUIRE(eventually(5s, [&] { return cluster.leaf("leaf-2").is_null(); }));

  const auto reply = cluster.search(synthetic_query(2), {{"deadline", "20s"}});
  REQUIRE(reply.status == 200);
  const auto answer = reply.json();
  CHECK(answer["finished"] != "complete");
  CHECK(missing_of(answer) == all_for(gone, "unassigned"));
  CHECK(answer["completeness"]["fraction"].get<double>() == synthetic_index().fraction_without(gone));
  CHECK(answer["completeness"]["of_asked"].get<double>() == synthetic_index().fraction_without(gone));
  CHECK(reply.took() < 10s);
  CHECK(cluster.search(synthetic_query(2), {{"deadline", "20s"}, {"partial", "deny"}}).status == 504);
  CHECK(cluster.ask("GET", "/readyz").status == 503);
}

TEST_CASE("a topology that changes while queries run costs no answer, and a broken one changes nothing") {
  TestCluster cluster({.replicas = 2});
  const auto whole = cluster.topology();
  auto without = whole;
  without["leaves"].erase(1);
  Traffic traffic(cluster.root_address(), 4);
  for (int round = 0; round < 5; ++round) {
    cluster.write_topology(without.dump());
    cluster.reload();
    REQUIRE(eventually(5s, [&] { return cluster.leaf("leaf-1").is_null(); }));
    cluster.write_topology(whole.dump());
    cluster.reload();
    REQUIRE(cluster.becomes_serving("leaf-1", 5s));
    const auto asked = traffic.asked();
    REQUIRE(eventually(5s, [&] { return traffic.asked() >= asked + 20; }));
  }
  const auto links_before = cluster.leaf("leaf-0")["links"];
  const auto unreadable = [&] {
    std::size_t count = 0;
    const auto log = cluster.log("root");
    for (auto at = log.find("topology_unreadable"); at != std::string::npos; at = log.find("topology_unreadable", at + 1)) {
      ++count;
    }
    return count;
  };
  std::size_t broken = 0;
  for (const std::string text : {"{\"leaves\":[", "{\"leaves\":[{\"name\":\"x\"}]}",
                                 "{\"leaves\":[{\"name\":\"x\",\"address\":\"127.0.0.1:1\",\"partitions\":[8]}]}", ""}) {
    cluster.write_topology(text);
    cluster.reload();
    ++broken;
    CHECK(eventually(5s, [&] { return unreadable() == broken; }));
    CHECK(cluster.cluster()["leaves"].size() == 4);
  }
  traffic.stop();
  CHECK(cluster.leaf("leaf-0")["links"] == links_before);
  CHECK(traffic.asked() >= 100);
  CHECK_MESSAGE(traffic.incomplete() == 0, traffic.last_incomplete());
}
