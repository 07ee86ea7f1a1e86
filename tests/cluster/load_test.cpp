// What the load generator sees of a real cluster that stalls. scripts/check-load is the long version.
#include <doctest/doctest.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <thread>

#include "cluster_fixture.hpp"
#include "lab/load.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

// The latencies of a load, by their instants, in the order of the instants.
using Samples = std::vector<std::pair<Duration, Duration>>;

Samples samples_of(const std::string& address, lab::LoadSettings settings) {
  settings.target = "http://" + address;
  for (std::uint64_t i = 0; i < 50; ++i) settings.queries.push_back(synthetic_query(i));
  settings.parameters = {{"deadline", "20s"}, {"spelling", "off"}, {"snippets", "off"}};
  settings.time_limit = 30s;
  Samples samples;
  boost::asio::io_context context(1);
  lab::Load load(context, settings);
  load.observe([&](const lab::LoadOutcome& outcome) {
    if (outcome.status == 200) samples.emplace_back(outcome.intended_at, outcome.latency);
  });
  boost::asio::co_spawn(context, load.run(), [](std::exception_ptr problem, result<lab::LoadResult> end) {
    if (problem) std::rethrow_exception(problem);
    REQUIRE(end.has_value());
  });
  context.run();
  std::sort(samples.begin(), samples.end());
  return samples;
}

std::size_t slower_than(Duration limit, const Samples& samples) {
  return static_cast<std::size_t>(std::count_if(samples.begin(), samples.end(), [&](const auto& sample) { return sample.second > limit; }));
}

}  // namespace

TEST_CASE("a leaf frozen for a second shows in a hundred samples at 100 queries a second, and in one of a client that waits") {
  // No replica to turn to, a link that outlives the freeze, and nothing that a root does against overload.
  TestCluster cluster({.root_arguments = {"--link-idle-time=1m", "--admission=fixed"}, .leaf_arguments = {"--idle-time=1m"}});
  for (std::uint64_t i = 0; i < 50; ++i) cluster.search(synthetic_query(i), {{"deadline", "20s"}});
  const std::string answered = "hedgerow_root_queries_total{outcome=\"complete\"}";

  // The freeze begins while the load runs, and lasts as long as the clock says.
  const auto freeze_after = [&](double queries) {
    const double before = cluster.metric("root", answered);
    return std::thread([&cluster, answered, queries, before] {
      eventually(20s, [&] { return cluster.metric("root", answered) >= before + queries; });
      cluster.act("leaf-1", "stop");
      const Instant begin = clock_now();
      std::this_thread::sleep_until(begin + 1s);  // the freeze itself
      cluster.act("leaf-1", "continue");
    });
  };

  lab::LoadSettings open_loop;
  open_loop.rate = 100;
  open_loop.duration = 4s;
  open_loop.arrivals = lab::ArrivalShape::even;
  auto freezing = freeze_after(100);
  const auto samples = samples_of(cluster.root_address(), open_loop);
  freezing.join();
  REQUIRE(samples.size() == 400);
  // Those meant for the freeze wait for what is left of it: 1,000 ms, 990, … 10; of these 95 wait longer than 50 ms. What
  // the machine adds are stalls of its own.
  const auto slow = slower_than(50ms, samples);
  CHECK(slow >= 90);
  CHECK(slow <= 130);
  CHECK(slower_than(500ms, samples) >= 45);
  CHECK(slower_than(500ms, samples) <= 70);
  // They fall by what lies between their instants.
  const auto worst = std::max_element(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  REQUIRE(samples.end() - worst > 60);
  const auto later = *(worst + 50);
  CHECK(to_milliseconds(worst->second - later.second) == doctest::Approx(to_milliseconds(later.first - worst->first)).epsilon(0.2));

  lab::LoadSettings closed_loop;
  closed_loop.clients = 1;
  closed_loop.count = 1000;
  freezing = freeze_after(100);
  const auto waiting = samples_of(cluster.root_address(), closed_loop);
  freezing.join();
  REQUIRE(waiting.size() == 1000);
  CHECK(slower_than(500ms, waiting) == 1);
}
