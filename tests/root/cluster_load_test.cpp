// How busy the leaves are: medians and means worked out by hand.
#include "root/policy/cluster/cluster_load.hpp"

#include <doctest/doctest.h>

#include "policy_fixture.hpp"

namespace hedgerow::policy {

namespace {

AttemptReport waited(Duration queue, Duration service) { return {.queue_time = queue, .service_time = service}; }

// As the search policies tell it of an attempt that waited behind nothing of its own query.
void answered(ClusterLoad& load, LeafId leaf, const AttemptReport& report, Instant now) {
  load.on_waited(leaf, report.queue_time, now);
  load.on_answered(leaf, report, now);
}

}  // namespace

TEST_CASE("nothing known of the load counts as none, and what is older than two seconds is not known") {
  ClusterLoad load;
  CHECK(load.queueing(at(0s)) == 0);
  CHECK(load.least_queue_time(at(0s)) == 0ms);
  CHECK(load.refused_share(at(0s)) == 0);
  answered(load, leaf(0), waited(6ms, 3ms), at(0s));
  CHECK(load.queueing(at(1s)) == doctest::Approx(2));
  CHECK(load.queueing(at(2s)) == 0);
  CHECK(load.least_queue_time(at(2s)) == 0ms);
}

TEST_CASE("the cluster queues as the median leaf does: one overloaded leaf does not count as the cluster (trap 11)") {
  struct Row {
    std::vector<Duration> queue_times;  // of a leaf each, beside 4 ms of work
    double queueing;
    Duration least;
  };
  const Row rows[] = {
      {{0ms, 0ms, 400ms}, 0, 0ms},
      {{2ms, 4ms, 400ms}, 1, 4ms},
      {{400ms, 0ms}, 0, 0ms},  // the lower of two
      {{8ms, 8ms, 0ms}, 2, 8ms},
      {{1ms, 2ms, 3ms, 4ms}, 0.5, 2ms},
  };
  for (const Row& row : rows) {
    CAPTURE(row.queueing);
    ClusterLoad load;
    for (int round = 0; round < 10; ++round) {
      for (std::uint32_t i = 0; i < row.queue_times.size(); ++i) {
        answered(load, leaf(i), waited(row.queue_times[i], 4ms), at(20ms * round));
      }
    }
    answered(load, leaf(0), waited(row.queue_times[0], 4ms), at(300ms));
    CHECK(load.queueing(at(300ms)) == doctest::Approx(row.queueing));
    CHECK(load.least_queue_time(at(300ms)) == row.least);
  }
}

TEST_CASE("time waited behind the same query's earlier partitions is no load") {
  ClusterLoad load;
  for (int i = 0; i < 20; ++i) {  // one worker, 20 partitions of one frame, 2 ms each
    load.on_waited(leaf(0), 0ms, at(2ms * i));
    load.on_answered(leaf(0), waited(2ms * i, 2ms), at(2ms * i));
  }
  CHECK(load.queueing(at(40ms)) == 0);
}

TEST_CASE("few short queries are no pressure, however long a thread's wake-up is beside them, and many are") {
  struct Row {
    Duration queue, service;
    int every_ms;
    double least, most;
  };
  // By hand: so many wait on the average of time as come in a second times what each waits.
  for (const Row& row : {Row{400us, 100us, 400, 0, 0.002},    // a query now and then: 0.001; queueing is 4
                         Row{400us, 100us, 20, 0.018, 0.022}, // one after another: 0.02
                         Row{2ms, 100us, 50, 0.033, 0.045},   // a burst on a shared machine now and then: 0.04
                         Row{5ms, 100us, 2000, 0, 0.005},     // a machine with other things to do: 0.0025
                         Row{900us, 100us, 1, 0.85, 0.95},    // nine tenths of the time somebody waits
                         Row{2ms, 4ms, 8, 0.49, 0.51},        // longer work: half of the time worked
                         Row{4ms, 4ms, 32, 0.99, 1.01},       // one of four roots at half of the leaves' capacity
                         Row{3ms, 3ms, 24, 0.54, 0.58}}) {    // half way from 0.125 to 1
    CAPTURE(format_duration(row.queue));
    CAPTURE(row.every_ms);
    ClusterLoad load;
    Instant now = at(0s);
    for (int i = 0; i < 4000 / row.every_ms + 1; ++i) {
      now = at(1ms * row.every_ms * i);
      for (std::uint32_t n = 0; n < 4; ++n) answered(load, leaf(n), waited(row.queue, row.service), now);
    }
    CHECK(load.pressure(now) >= row.least);
    CHECK(load.pressure(now) <= row.most);
    CHECK(load.queueing(now) == doctest::Approx(to_seconds(row.queue) / to_seconds(row.service)));
  }
}

TEST_CASE("what was weighs half after half a second") {
  ClusterLoad load;
  answered(load, leaf(0), waited(8ms, 2ms), at(0s));
  answered(load, leaf(0), waited(0ms, 2ms), at(500ms));
  // (8/2 + 0) / (2/2 + 2)
  CHECK(load.queueing(at(500ms)) == doctest::Approx(4.0 / 3));
  answered(load, leaf(0), waited(0ms, 2ms), at(1s));
  CHECK(load.queueing(at(1s)) == doctest::Approx(2.0 / 3.5));
}

TEST_CASE("the smallest waiting time is that of the last tenths of a second") {
  ClusterLoad load;
  for (int i = 0; i <= 100; ++i) {
    // Waits between 5 and 9 ms, but for one lucky attempt at 300 ms.
    const Duration queue = i == 30 ? Duration(1ms) : 5ms + 1ms * (i % 5);
    answered(load, leaf(0), waited(queue, 2ms), at(10ms * i));
    const Duration least = load.least_queue_time(at(10ms * i));
    CAPTURE(i);
    if (i >= 10 && i < 30) CHECK(least == 5ms);
    if (i >= 36 && i < 38) CHECK(least == 1ms);
    if (i >= 56) CHECK(least == 5ms);
  }
}

TEST_CASE("one leaf that refuses everything is not the cluster, all that refuse a little are (traps 11 and 15)") {
  const auto share = [](std::uint32_t leaves, auto&& refuses) {
    ClusterLoad load;
    for (int i = 0; i < 100; ++i) {
      for (std::uint32_t n = 0; n < leaves; ++n) {
        if (refuses(n, i)) {
          load.on_failed(leaf(n), true, at(2ms * i));
        } else {
          answered(load, leaf(n), waited(1ms, 4ms), at(2ms * i));
        }
      }
    }
    return load.refused_share(at(199ms));
  };
  CHECK(share(20, [](std::uint32_t, int) { return false; }) == 0);
  CHECK(share(20, [](std::uint32_t n, int) { return n == 7; }) == 0);
  CHECK(share(3, [](std::uint32_t n, int) { return n == 1; }) == 0);
  // Three of twenty: two are the worst tenth, one of eighteen is left.
  CHECK(share(20, [](std::uint32_t n, int) { return n < 3; }) == doctest::Approx(1.0 / 18));
  CHECK(share(20, [](std::uint32_t, int i) { return i % 10 == 0; }) == doctest::Approx(0.1).epsilon(0.2));
  CHECK(share(1, [](std::uint32_t, int i) { return i % 2 == 0; }) == doctest::Approx(0.5).epsilon(0.1));
}

TEST_CASE("failures of another kind are not refusals") {
  ClusterLoad load;
  for (int i = 0; i < 10; ++i) load.on_failed(leaf(0), false, at(60ms * i));
  CHECK(load.refused_share(at(600ms)) == 0);
}

}  // namespace hedgerow::policy
