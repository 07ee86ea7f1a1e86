// Batch queries, as many as they like: interactive ones hardly notice, and batch moves. scripts/check-classes is the long
// version.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cluster_fixture.hpp"
#include "control_timer.hpp"
#include "load_run.hpp"
#include "waiting.hpp"

using namespace hedgerow;
using namespace hedgerow::test;
using namespace std::chrono_literals;

namespace {

const char* const long_version = "HEDGEROW_CLASSES_SECONDS";

lab::LoadSettings load(lab::SearchParameters parameters) {
  lab::LoadSettings settings;
  for (std::size_t i = 0; i < 500; ++i) settings.queries.push_back(measured_query(i));
  settings.parameters = std::move(parameters);
  return settings;
}

// More batch queries than can be worked on, for as long as this lives: clients that ask one after another, so that none are
// left over for the next block.
class BatchLoad {
 public:
  explicit BatchLoad(const std::string& address) : began_(std::chrono::steady_clock::now()) {
    for (std::size_t i = 0; i < clients; ++i) {
      threads_.emplace_back([this, address, i] {
        // The clients are to load the cluster, not the processors that it shares with them here: a thread's own priority.
        setpriority(PRIO_PROCESS, 0, 19);
        Client client(address);
        for (std::size_t n = i; !stopping_; n += clients) {
          const auto reply = client.get(search_target(measured_query(n % 500), {{"class", "batch"}, {"deadline", "10s"}}));
          if (reply.status == 200 && reply.header("Hedgerow-Completeness") == completeness_header(1)) ++complete_;
        }
      });
    }
  }
  ~BatchLoad() { stop(); }
  BatchLoad(const BatchLoad&) = delete;
  BatchLoad& operator=(const BatchLoad&) = delete;

  void stop() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }
  std::size_t complete() const { return complete_; }
  double seconds() const { return to_seconds(std::chrono::steady_clock::now() - began_); }

 private:
  static constexpr std::size_t clients = 32;
  const Instant began_;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::size_t> complete_ = 0;
  std::vector<std::thread> threads_;
};

// Interactive queries at a rate, in blocks by turns without and with batch clients that ask one query after another.
void compare(TestCluster& cluster, const std::string& what, double rate, double most_ratio) {
  const bool at_length = count_from_environment(long_version, 0) > 0;
  const std::size_t rounds = at_length ? 9 : 3;
  const auto block = std::chrono::seconds(count_from_environment(long_version, 4));
  for (std::size_t i = 0; i < 200; ++i) cluster.search(measured_query(i), {{"deadline", "10s"}});

  std::map<bool, std::vector<double>> p99s, p50s;
  std::vector<double> ratios;
  std::uint64_t incomplete = 0, asked = 0;
  double batch_complete = 0, batch_seconds = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    for (const bool beside_batch : {round % 2 != 0, round % 2 == 0}) {
      std::optional<BatchLoad> batch;
      if (beside_batch) batch.emplace(cluster.root_address());
      auto settings = load({{"deadline", "1s"}});
      settings.rate = rate;
      settings.duration = block;
      settings.warm_up = 500ms;
      settings.seed = 10 + round;
      const auto figures = run_load(cluster.root_address(), std::move(settings));
      p99s[beside_batch].push_back(figures.p99);
      p50s[beside_batch].push_back(figures.p50);
      incomplete += figures.asked - figures.complete;
      asked += figures.asked;
      if (batch) {
        batch_seconds += batch->seconds();
        batch->stop();
        batch_complete += static_cast<double>(batch->complete());
      }
    }
    ratios.push_back(p99s[true].back() / p99s[false].back());
  }
  const double ratio = median(p99s[true]) / median(p99s[false]);
  MESSAGE(what, ", ", rounds, " rounds, ", rate, " interactive queries/s: p99 alone ", median(p99s[false]), " ms, beside batch ",
          median(p99s[true]), " ms, ratio ", ratio, " (median of the rounds' ratios ", median(ratios), "); p50 ", median(p50s[false]),
          " and ", median(p50s[true]), " ms; ", incomplete, " of ", asked, " incomplete; batch ", batch_complete / batch_seconds,
          " answers/s");
  CHECK(batch_complete / batch_seconds >= 1);
  CHECK(incomplete <= asked / 100);
  if (!under_sanitizer) CHECK(std::min(ratio, median(ratios)) <= (at_length ? 1.3 : most_ratio));
}

}  // namespace

TEST_CASE("batch at saturation leaves the p99 of interactive queries nearly as it was, and moves: leaves that are slow") {
  TestCluster cluster({.index = measured_index().directory, .replicas = 2, .workers = 2, .allow_faults = true});
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "hold"}, {"delay", "8ms"}, {"work", {"search"}}}});
  compare(cluster, "8 ms for each partition", 30, 1.6);
}

TEST_CASE("batch at saturation leaves the p99 of interactive queries nearly as it was, and moves: cores that are busy") {
  TestCluster cluster({.index = measured_index().directory, .replicas = 2, .workers = 1});
  compare(cluster, "as fast as the cores go", 30, 3);
}

TEST_CASE("trap 27: a batch query is batch in all its attempts, and batch still moves while interactive queries are too many") {
  TestCluster cluster({.replicas = 2, .workers = 1, .allow_faults = true});
  for (std::size_t i = 0; i < 50; ++i) cluster.search(synthetic_query(i), {{"deadline", "10s"}});
  for (const auto& leaf : cluster.leaves()) cluster.set_faults(leaf, {{{"kind", "hold"}, {"delay", "8ms"}, {"work", {"search"}}}});
  auto settings = load({{"deadline", "250ms"}});
  settings.queries.clear();
  for (std::size_t i = 0; i < 500; ++i) settings.queries.push_back(synthetic_query(i));
  settings.rate = 200;  // about three times what four workers can do
  settings.duration = 5s;
  settings.connections = 512;
  auto overload = load_in_background(cluster.root_address(), std::move(settings));
  std::size_t answered = 0, asked = 0;
  while (overload.wait_for(0ms) != std::future_status::ready) {
    const auto reply = cluster.search(synthetic_query(++asked), {{"class", "batch"}, {"deadline", "20s"}});
    CHECK_MESSAGE(reply.status == 200, reply.body);
    if (reply.status == 200 && reply.json()["finished"] == "complete") ++answered;
  }
  const auto figures = overload.get();
  MESSAGE(answered, " of ", asked, " batch queries complete while ", figures.refused, " of ", figures.asked, " interactive ones were refused");
  CHECK(figures.refused > 0);
  CHECK(answered >= 3);
}
