// Admission in a closed loop with a cluster in virtual time: goodput under overload and after it.
//
// The cluster answers 200 whole queries a second. Work is counted in whole queries: an answer over half of the
// partitions is half a query's work.
#include <doctest/doctest.h>

#include <algorithm>

#include "overloaded_cluster.hpp"
#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

struct Sum {
  double arrived = 0, complete = 0, late = 0, refused = 0, narrowed = 0, work = 0, batch_done = 0;
};

Sum sum(const std::vector<OverloadedCluster::Second>& seconds, std::size_t from, std::size_t to) {
  Sum all;
  for (std::size_t i = from; i < to; ++i) {
    const auto& s = seconds[i];
    all.arrived += static_cast<double>(s.arrived);
    all.complete += static_cast<double>(s.complete);
    all.late += static_cast<double>(s.late);
    all.refused += static_cast<double>(s.refused);
    all.narrowed += static_cast<double>(s.narrowed);
    all.work += s.work;
    all.batch_done += static_cast<double>(s.batch_done);
  }
  return all;
}

// Half of the capacity, then `factor` times it from second 2 to 10, then 0.7 times it to the end at 16.
std::vector<OverloadedCluster::Second> overloaded(OverloadedCluster& cluster, double factor) {
  return cluster.run(16s, [&](double t) { return (t < 2 ? 0.5 : t < 10 ? factor : 0.7) * cluster.capacity(); });
}

}  // namespace

TEST_CASE("trap 28: under overload the work done in time stays near capacity, and afterwards every query is answered at once") {
  for (const Duration deadline : {100ms, 250ms}) {
    for (const double narrowest : {0.5, 1.0}) {
      for (const double factor : {1.5, 3.0, 5.0}) {
        for (std::uint64_t seed = 1; seed <= 4; ++seed) {
          CAPTURE(to_milliseconds(deadline));
          CAPTURE(narrowest);
          CAPTURE(factor);
          CAPTURE(seed);
          OverloadedCluster::Settings settings;
          settings.deadline = deadline;
          settings.admission.narrowest = narrowest;
          settings.seed = seed;
          OverloadedCluster cluster(settings);
          const auto seconds = overloaded(cluster, factor);
          const Sum during = sum(seconds, 3, 10);
          // (Six runs of each: 0.88 to 0.98 on average; fixed limits get nothing done, see below.)
          CHECK(during.work / 7 >= (deadline < 200ms ? 0.8 : 0.85) * cluster.capacity());
          CHECK(during.late <= 0.05 * during.arrived);
          CHECK((during.narrowed > 0) == (narrowest < 1));
          for (std::size_t i = 2; i < 10; ++i) CHECK(seconds[i].slowest_refusal <= deadline / 2);
          // Within two seconds, where five are asked for.
          const Sum after = sum(seconds, 12, 16);
          // (0.7 is the mean; with 100 ms of time a burst makes some late.)
          CHECK(after.complete >= (deadline < 200ms ? 0.97 : 0.995) * after.arrived);
          CHECK(after.narrowed <= (deadline < 200ms ? 0.05 : 0.01) * after.arrived);
          CHECK(cluster.queries_open == 0);
          CHECK(cluster.admission.in_flight(ServiceClass::interactive) == 0);
          CHECK(cluster.admission.waiting(ServiceClass::interactive) == 0);
        }
      }
    }
  }
}

TEST_CASE("without admission the same overload leaves next to no query an answer in time") {
  OverloadedCluster::Settings settings;
  settings.deadline = 250ms;
  settings.admission.limit.adaptive = false;
  OverloadedCluster cluster(settings);
  const auto seconds = overloaded(cluster, 3);
  CHECK(sum(seconds, 4, 10).work / 6 <= 0.1 * cluster.capacity());
}

TEST_CASE("nobody is refused at 0.7 of the capacity, and hardly anybody at 0.9") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    OverloadedCluster::Settings settings;
    settings.deadline = 250ms;
    settings.seed = seed;
    for (const auto& [factor, most_refused] : {std::pair{0.7, 0.0}, std::pair{0.9, 0.02}}) {
      CAPTURE(factor);
      OverloadedCluster cluster(settings);
      const Sum all = sum(cluster.run(20s, [&, f = factor](double) { return f * cluster.capacity(); }), 0, 20);
      CHECK(all.refused <= most_refused * all.arrived);
      CHECK(all.late <= 0.01 * all.arrived);
      CHECK(all.narrowed <= 5 * most_refused * all.arrived);
    }
  }
}

TEST_CASE("those who have time wait, and nothing is left out for them") {
  OverloadedCluster::Settings settings;
  settings.deadline = 20s;
  OverloadedCluster cluster(settings);
  // For a second three times the capacity, and then half of it: there are two seconds of work to make up for.
  const Sum all = sum(cluster.run(10s, [&](double t) { return (t < 1 ? 3 : 0.5) * cluster.capacity(); }), 0, 10);
  CHECK(all.complete == all.arrived);
  CHECK(all.narrowed == 0);
}

TEST_CASE("a leaf that hangs makes every query wait until its deadline, and is no overload: nobody is refused") {
  OverloadedCluster::Settings settings;
  settings.deadline = 250ms;
  settings.leaves = 8;
  settings.stuck = {3};
  OverloadedCluster cluster(settings);
  // 160 queries a second of 250 ms each: 40 in flight, where 32 were thought to be enough.
  const Sum all = sum(cluster.run(20s, [&](double) { return 0.8 * cluster.capacity(); }), 0, 20);
  CHECK(all.late + all.narrowed >= all.arrived);  // incomplete, for want of one leaf
  CHECK(all.narrowed <= 0.05 * all.arrived);  // while the limit rises
  CHECK(all.refused == 0);
  CHECK(cluster.admission.sign() == OverloadSign::none);
}

TEST_CASE("a leaf that hangs right after an overload does not keep the limit low") {
  OverloadedCluster::Settings settings;
  settings.deadline = 250ms;
  settings.leaves = 8;
  OverloadedCluster cluster(settings);
  const auto seconds = cluster.run(20s, [&](double t) {
    if (t > 6) cluster.settings.stuck = {3};
    return (t < 6 ? 4 : 0.7) * cluster.capacity();
  });
  const Sum later = sum(seconds, 12, 20);
  CHECK(later.refused <= 0.01 * later.arrived);
}

TEST_CASE("batch moves on through an overload of interactive queries, and costs them little") {
  double work[2]{}, batch = 0;
  for (const bool with_batch : {false, true}) {
    OverloadedCluster::Settings settings;
    settings.deadline = 250ms;
    settings.batch_rate = with_batch ? 100 : 0;
    OverloadedCluster cluster(settings);
    const Sum during = sum(overloaded(cluster, 3), 3, 10);
    work[with_batch ? 1 : 0] = during.work;
    if (with_batch) batch = during.batch_done;
  }
  CHECK(batch >= 7);  // one a second, at least
  CHECK(work[1] >= 0.85 * work[0]);
}

}  // namespace hedgerow::policy
