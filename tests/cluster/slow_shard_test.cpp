// One slow shard must not cost healthy ones.
#include <doctest/doctest.h>

#include <algorithm>

#include "cluster_fixture.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

TEST_CASE("when one leaf answers after the deadline, it alone is named missing, in every one of 150 answers") {
  TestCluster cluster({.allow_faults = true});
  const auto slow = cluster.partitions_of("leaf-2");
  for (std::size_t i = 0; i < 20; ++i) cluster.search(synthetic_query(i), {{"deadline", "10s"}});
  const Duration deadline = scaled(400ms);
  cluster.set_faults("leaf-2", {{{"kind", "late"}, {"delay", format_duration(2 * deadline)}}});
  std::size_t healthy_named = 0, others = 0;
  std::vector<double> took;
  ask_all(
      cluster.root_address(), 16, 150,
      [&](std::size_t i) { return search_target(synthetic_query(i), {{"deadline", format_duration(deadline)}}); },
      [&](std::size_t, const Reply& reply) {
        REQUIRE(reply.status == 200);
        const auto answer = reply.json();
        took.push_back(answer["took_ms"]);
        const auto missing = missing_of(answer);
        for (const auto partition : slow) {
          if (!missing.contains(partition)) ++others;
        }
        if (missing.size() > slow.size()) ++healthy_named;
        CHECK(hits_are_whole(answer));
      });
  std::sort(took.begin(), took.end());
  MESSAGE("150 queries by 16 clients: healthy leaves named in ", healthy_named, "; took_ms median ", took[75], ", max ",
          took.back());
  CHECK(healthy_named == 0);
  CHECK(others == 0);
}
