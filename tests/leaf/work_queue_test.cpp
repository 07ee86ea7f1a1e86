#include "leaf/work_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

Instant at(Duration since_start) { return Instant{} + std::chrono::hours(1) + since_start; }

constexpr int interactive = 0, batch = 1;

}  // namespace

TEST_CASE("work comes out by service class, then by deadline, then by arrival") {
  WorkQueue<std::string> queue(10);
  queue.push("batch, early", batch, at(5ms), at(0ms));
  queue.push("late", interactive, at(30ms), at(0ms));
  queue.push("first of equals", interactive, at(20ms), at(0ms));
  queue.push("second of equals", interactive, at(20ms), at(1ms));
  queue.push("batch, late", batch, at(6ms), at(1ms));
  queue.push("early", interactive, at(10ms), at(2ms));

  std::vector<std::string> order;
  while (auto popped = queue.pop(at(3ms))) order.push_back(popped->work);
  CHECK(order == std::vector<std::string>{"early", "first of equals", "second of equals", "late", "batch, early", "batch, late"});
}

TEST_CASE("any mixture comes out as a stable sort would put it") {
  struct Item {
    int service_class;
    Duration deadline;
    int arrival;
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    WorkQueue<Item> queue(1000);
    std::vector<Item> items;
    for (int i = 0; i < 60; ++i) {
      items.push_back({static_cast<int>(random.below(2)), 1ms * static_cast<int>(random.below(5)), i});
      REQUIRE(queue.push(items.back(), items.back().service_class, at(items.back().deadline), at(0ms)));
    }
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return a.service_class != b.service_class ? a.service_class < b.service_class : a.deadline < b.deadline;
    });
    for (const Item& item : items) REQUIRE(queue.pop(at(0ms))->work.arrival == item.arrival);
    REQUIRE(queue.empty());
  }
}

TEST_CASE("beyond its capacity the queue refuses, and takes again when there is room") {
  WorkQueue<int> queue(2);
  CHECK(queue.push(1, interactive, at(10ms), at(0ms)).has_value());
  const auto second = queue.push(2, interactive, at(10ms), at(0ms));
  CHECK(second.has_value());
  CHECK_FALSE(queue.push(3, interactive, at(1ms), at(0ms)).has_value());
  CHECK(queue.size() == 2);
  CHECK(queue.remove(*second) == 2);
  CHECK(queue.push(4, interactive, at(10ms), at(0ms)).has_value());
  CHECK(queue.pop(at(0ms))->work == 1);
  CHECK(queue.push(5, interactive, at(10ms), at(0ms)).has_value());
}

TEST_CASE("work whose deadline is not after now comes out expired") {
  WorkQueue<int> queue(10);
  queue.push(1, interactive, at(10ms), at(0ms));
  queue.push(2, interactive, at(20ms), at(3ms));
  queue.push(3, interactive, at(20ms) + 1ns, at(4ms));
  const auto first = queue.pop(at(20ms));
  CHECK(first->expired);
  CHECK(first->pushed_at == at(0ms));
  CHECK(queue.pop(at(20ms))->expired);
  const auto third = queue.pop(at(20ms));
  CHECK_FALSE(third->expired);
  CHECK(third->pushed_at == at(4ms));
}

TEST_CASE("who removes work gets it, once, and only while it waits") {
  WorkQueue<int> queue(10);
  const auto first = queue.push(1, interactive, at(10ms), at(0ms));
  const auto second = queue.push(2, interactive, at(10ms), at(0ms));
  CHECK(queue.remove(*second) == 2);
  CHECK_FALSE(queue.remove(*second).has_value());
  CHECK(queue.pop(at(0ms))->work == 1);
  CHECK_FALSE(queue.remove(*first).has_value());
  CHECK_FALSE(queue.pop(at(0ms)).has_value());
}

}  // namespace hedgerow::leaf
