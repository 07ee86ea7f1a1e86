#include "leaf/work_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

Instant at(Duration since_start) { return Instant{} + std::chrono::hours(1) + since_start; }

constexpr LaneLimits roomy{.waiting = 1000, .running = 1000};

template <class Work>
auto push(WorkQueue<Work>& queue, Work work, WorkKind kind, ServiceClass service_class, Duration deadline) {
  return queue.push(std::move(work), lane_of(kind), rank_of(kind, service_class), at(deadline), at(0ms));
}

constexpr auto interactive = ServiceClass::interactive, batch = ServiceClass::batch;

}  // namespace

TEST_CASE("work comes out by service class, then by kind, then by deadline, then by arrival") {
  WorkQueue<std::string> queue(roomy, roomy);
  push<std::string>(queue, "batch fetch", WorkKind::fetch, batch, 1ms);
  push<std::string>(queue, "batch facets", WorkKind::facets, batch, 1ms);
  push<std::string>(queue, "batch search", WorkKind::search, batch, 1ms);
  push<std::string>(queue, "facets", WorkKind::facets, interactive, 2ms);
  push<std::string>(queue, "late search", WorkKind::search, interactive, 30ms);
  push<std::string>(queue, "first of equals", WorkKind::search, interactive, 20ms);
  push<std::string>(queue, "spelling", WorkKind::spelling, interactive, 3ms);
  push<std::string>(queue, "second of equals", WorkKind::search, interactive, 20ms);
  push<std::string>(queue, "lookup", WorkKind::lookup, interactive, 4ms);
  push<std::string>(queue, "snippets", WorkKind::snippets, interactive, 5ms);
  push<std::string>(queue, "early search", WorkKind::search, interactive, 10ms);
  push<std::string>(queue, "fetch", WorkKind::fetch, interactive, 60ms);

  std::vector<std::string> order;
  while (auto popped = queue.pop(at(0ms))) order.push_back(popped->work);
  CHECK(order == std::vector<std::string>{"fetch", "early search", "first of equals", "second of equals", "late search",
                                          "snippets", "lookup", "spelling", "facets", "batch fetch", "batch search",
                                          "batch facets"});
}

TEST_CASE("any mixture comes out as a stable sort would put it") {
  struct Item {
    Lane lane;
    int rank;
    Duration deadline;
    int arrival;
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    WorkQueue<Item> queue(roomy, roomy);
    std::vector<Item> items;
    for (int i = 0; i < 60; ++i) {
      items.push_back({random.chance(0.5) ? Lane::hits : Lane::side, static_cast<int>(random.below(3)),
                       1ms * static_cast<int>(random.below(5)), i});
      const Item& item = items.back();
      REQUIRE(queue.push(item, item.lane, item.rank, at(item.deadline), at(0ms)));
    }
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return std::tie(a.rank, a.deadline) < std::tie(b.rank, b.deadline);
    });
    for (const Item& item : items) {
      const auto popped = queue.pop(at(0ms));
      REQUIRE(popped->work.arrival == item.arrival);
      REQUIRE(popped->lane == item.lane);
    }
    REQUIRE_FALSE(queue.ready());
  }
}

TEST_CASE("a lane beyond its bound refuses, and takes again when there is room, and the other lane is not concerned") {
  WorkQueue<int> queue({.waiting = 2, .running = 9}, {.waiting = 1, .running = 9});
  CHECK(push(queue, 1, WorkKind::search, interactive, 10ms).has_value());
  const auto second = push(queue, 2, WorkKind::fetch, batch, 10ms);
  CHECK(second.has_value());
  CHECK_FALSE(push(queue, 3, WorkKind::search, interactive, 1ms).has_value());
  CHECK(push(queue, 10, WorkKind::facets, interactive, 10ms).has_value());
  CHECK_FALSE(push(queue, 11, WorkKind::spelling, interactive, 1ms).has_value());
  CHECK(queue.waiting(Lane::hits) == 2);
  CHECK(queue.waiting(Lane::side) == 1);
  CHECK(queue.remove(*second) == 2);
  CHECK(push(queue, 4, WorkKind::search, interactive, 10ms).has_value());
  CHECK(queue.pop(at(0ms))->work == 1);
  CHECK(push(queue, 5, WorkKind::search, interactive, 10ms).has_value());
  CHECK_FALSE(push(queue, 12, WorkKind::lookup, interactive, 1ms).has_value());
}

TEST_CASE("a lane runs no more at once than it may, and what it holds back is overtaken by the other lane") {
  WorkQueue<int> queue({.waiting = 9, .running = 2}, {.waiting = 9, .running = 1});
  CHECK_FALSE(queue.ready());
  for (const int work : {1, 2, 3}) push(queue, work, WorkKind::search, interactive, 10ms);
  for (const int work : {11, 12}) push(queue, work, WorkKind::facets, interactive, 10ms);
  CHECK(queue.pop(at(0ms))->work == 1);
  CHECK(queue.pop(at(0ms))->work == 2);
  CHECK(queue.running(Lane::hits) == 2);
  CHECK(queue.pop(at(0ms))->work == 11);  // 3 has to wait
  CHECK_FALSE(queue.ready());
  CHECK_FALSE(queue.pop(at(0ms)).has_value());
  queue.finish(Lane::hits);
  CHECK(queue.ready());
  CHECK(queue.pop(at(0ms))->work == 3);
  CHECK_FALSE(queue.pop(at(0ms)).has_value());
  queue.finish(Lane::hits);
  CHECK_FALSE(queue.ready());  // a place among the hits is none for side work
  queue.finish(Lane::side);
  CHECK(queue.pop(at(0ms))->work == 12);
}

TEST_CASE("whatever comes and goes, some place is left to the hits, and no lane runs more than it may") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    constexpr std::size_t threads = 3;
    WorkQueue<int> queue({.waiting = 20, .running = threads}, {.waiting = 10, .running = threads - 1});
    std::vector<Lane> running;
    for (int i = 0; i < 500; ++i) {
      const auto kind = work_kinds[random.below(work_kinds.size())];
      push(queue, i, kind, random.chance(0.3) ? batch : interactive, 1ms * static_cast<int>(random.below(9)));
      if (running.size() < threads && random.chance(0.7)) {
        const bool hits_wait = queue.waiting(Lane::hits) > 0;
        const auto popped = queue.pop(at(0ms));
        REQUIRE((popped.has_value() || !hits_wait));
        if (popped) running.push_back(popped->lane);
      }
      if (!running.empty() && random.chance(0.6)) {
        const auto which = running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size()));
        queue.finish(*which);
        running.erase(which);
      }
      const auto side = static_cast<std::size_t>(std::count(running.begin(), running.end(), Lane::side));
      REQUIRE(queue.running(Lane::side) == side);
      REQUIRE(queue.running(Lane::hits) == running.size() - side);
      REQUIRE(side <= threads - 1);
    }
  }
}

TEST_CASE("work whose deadline is not after now comes out expired") {
  WorkQueue<int> queue(roomy, roomy);
  const auto add = [&](int work, Instant deadline, Instant now) { queue.push(work, Lane::hits, 0, deadline, now); };
  add(1, at(10ms), at(0ms));
  add(2, at(20ms), at(3ms));
  add(3, at(20ms) + 1ns, at(4ms));
  const auto first = queue.pop(at(20ms));
  CHECK(first->expired);
  CHECK(first->pushed_at == at(0ms));
  CHECK(queue.pop(at(20ms))->expired);
  const auto third = queue.pop(at(20ms));
  CHECK_FALSE(third->expired);
  CHECK(third->pushed_at == at(4ms));
}

TEST_CASE("who removes work gets it, once, and only while it waits") {
  WorkQueue<int> queue(roomy, roomy);
  for (const auto kind : {WorkKind::search, WorkKind::snippets}) {
    const auto first = push(queue, 1, kind, interactive, 10ms);
    const auto second = push(queue, 2, kind, interactive, 10ms);
    CHECK(queue.remove(*second) == 2);
    CHECK_FALSE(queue.remove(*second).has_value());
    CHECK(queue.pop(at(0ms))->work == 1);
    CHECK_FALSE(queue.remove(*first).has_value());
    CHECK_FALSE(queue.pop(at(0ms)).has_value());
  }
}

}  // namespace hedgerow::leaf
