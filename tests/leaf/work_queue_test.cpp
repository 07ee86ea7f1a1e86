#include "leaf/work_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.hpp"

#include "instants.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

constexpr LaneLimits roomy{.waiting = 1000, .running = 1000};
constexpr ClassLimits all_roomy{roomy, roomy};

constexpr auto interactive = ServiceClass::interactive, batch = ServiceClass::batch;

// Both classes alike; batch has no workers of its own unless the test says so.
QueueLimits limits(LaneLimits hits, LaneLimits side) {
  return {.interactive = {hits, side}, .batch = {hits, side}, .batch_has_workers = false};
}

template <class Work>
auto push(WorkQueue<Work>& queue, Work work, WorkKind kind, ServiceClass service_class, Duration deadline, Duration yields = 0ms) {
  return queue.push(std::move(work), {kind, service_class, at(deadline), yields}, at(0ms));
}
template <class Work>
auto pop(WorkQueue<Work>& queue, Duration now = 0ms) {
  return queue.pop(interactive, at(now));
}

}  // namespace

TEST_CASE("work comes out by service class, then by kind, then by deadline, then by arrival") {
  WorkQueue<std::string> queue(limits(roomy, roomy));
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
  while (auto popped = pop(queue)) order.push_back(popped->work);
  CHECK(order == std::vector<std::string>{"fetch", "early search", "first of equals", "second of equals", "late search",
                                          "snippets", "lookup", "spelling", "facets", "batch fetch", "batch search",
                                          "batch facets"});
}

TEST_CASE("any mixture of one class comes out as a stable sort would put it") {
  struct Item {
    WorkKind kind;
    Duration turn;
    int arrival;
  };
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    WorkQueue<Item> queue(limits(roomy, roomy));
    std::vector<Item> items;
    for (int i = 0; i < 60; ++i) {
      const Duration deadline = 1ms * static_cast<int>(random.below(5)), yields = 1ms * static_cast<int>(random.below(3));
      items.push_back({work_kinds[random.below(work_kinds.size())], deadline + yields, i});
      REQUIRE(push(queue, items.back(), items.back().kind, interactive, deadline, yields));
    }
    std::stable_sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
      return std::tie(a.kind, a.turn) < std::tie(b.kind, b.turn);
    });
    for (const Item& item : items) {
      const auto popped = pop(queue);
      REQUIRE(popped->work.arrival == item.arrival);
      REQUIRE(popped->kind == item.kind);
    }
    REQUIRE_FALSE(queue.ready(interactive));
  }
}

TEST_CASE("a lane beyond its bound refuses, and takes again when there is room, and the other lane is not concerned") {
  WorkQueue<int> queue(limits({.waiting = 2, .running = 9}, {.waiting = 1, .running = 9}));
  CHECK(push(queue, 1, WorkKind::search, interactive, 10ms).has_value());
  const auto second = push(queue, 2, WorkKind::fetch, interactive, 10ms);
  CHECK(second.has_value());
  CHECK_FALSE(push(queue, 3, WorkKind::search, interactive, 1ms).has_value());
  CHECK(push(queue, 10, WorkKind::facets, interactive, 10ms).has_value());
  CHECK_FALSE(push(queue, 11, WorkKind::spelling, interactive, 1ms).has_value());
  CHECK(queue.waiting(interactive, Lane::hits) == 2);
  CHECK(queue.waiting(interactive, Lane::side) == 1);
  CHECK(queue.remove(*second) == 2);
  CHECK(push(queue, 4, WorkKind::search, interactive, 10ms).has_value());
  CHECK(pop(queue)->work == 1);
  CHECK(push(queue, 5, WorkKind::search, interactive, 10ms).has_value());
  CHECK_FALSE(push(queue, 12, WorkKind::lookup, interactive, 1ms).has_value());
}

TEST_CASE("a lane runs no more at once than it may, and what it holds back is overtaken by the other lane") {
  WorkQueue<int> queue(limits({.waiting = 9, .running = 2}, {.waiting = 9, .running = 1}));
  CHECK_FALSE(queue.ready(interactive));
  for (const int work : {1, 2, 3}) push(queue, work, WorkKind::search, interactive, 10ms);
  for (const int work : {11, 12}) push(queue, work, WorkKind::facets, interactive, 10ms);
  CHECK(pop(queue)->work == 1);
  CHECK(pop(queue)->work == 2);
  CHECK(queue.running(interactive, Lane::hits) == 2);
  CHECK(pop(queue)->work == 11);  // 3 has to wait
  CHECK_FALSE(queue.ready(interactive));
  CHECK_FALSE(pop(queue).has_value());
  queue.finish(WorkKind::search, interactive);
  CHECK(queue.ready(interactive));
  CHECK(pop(queue)->work == 3);
  CHECK_FALSE(pop(queue).has_value());
  queue.finish(WorkKind::search, interactive);
  CHECK_FALSE(queue.ready(interactive));  // a place among the hits is none for side work
  queue.finish(WorkKind::facets, interactive);
  CHECK(pop(queue)->work == 12);
}

TEST_CASE("whatever comes and goes, some place is left to the hits, and no lane runs more than it may") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    constexpr std::size_t threads = 3;
    WorkQueue<int> queue(limits({.waiting = 20, .running = threads}, {.waiting = 10, .running = threads - 1}));
    std::vector<std::pair<WorkKind, ServiceClass>> running;
    for (int i = 0; i < 500; ++i) {
      const auto kind = work_kinds[random.below(work_kinds.size())];
      push(queue, i, kind, random.chance(0.3) ? batch : interactive, 1ms * static_cast<int>(random.below(9)));
      if (running.size() < threads && random.chance(0.7)) {
        const bool hits_wait = queue.waiting(interactive, Lane::hits) + queue.waiting(batch, Lane::hits) > 0;
        const auto popped = pop(queue);
        REQUIRE((popped.has_value() || !hits_wait));
        if (popped) running.emplace_back(popped->kind, popped->service_class);
      }
      if (!running.empty() && random.chance(0.6)) {
        const auto which = running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size()));
        queue.finish(which->first, which->second);
        running.erase(which);
      }
      const auto side = static_cast<std::size_t>(std::count_if(
          running.begin(), running.end(), [](const auto& each) { return lane_of(each.first) == Lane::side; }));
      REQUIRE(queue.running(interactive, Lane::side) == side);
      REQUIRE(queue.running(interactive, Lane::hits) == running.size() - side);
      REQUIRE(side <= threads - 1);
    }
  }
}

TEST_CASE("work whose deadline is not after now comes out expired") {
  WorkQueue<int> queue(limits(roomy, roomy));
  const auto add = [&](int work, Instant deadline, Instant now) { queue.push(work, {WorkKind::search, interactive, deadline, 0ms}, now); };
  add(1, at(10ms), at(0ms));
  add(2, at(20ms), at(3ms));
  add(3, at(20ms) + 1ns, at(4ms));
  const auto first = pop(queue, 20ms);
  CHECK(first->expired);
  CHECK(first->pushed_at == at(0ms));
  CHECK(pop(queue, 20ms)->expired);
  const auto third = pop(queue, 20ms);
  CHECK_FALSE(third->expired);
  CHECK(third->pushed_at == at(4ms));
}

TEST_CASE("who removes work gets it, once, and only while it waits") {
  WorkQueue<int> queue(limits(roomy, roomy));
  for (const auto kind : {WorkKind::search, WorkKind::snippets}) {
    const auto first = push(queue, 1, kind, interactive, 10ms);
    const auto second = push(queue, 2, kind, interactive, 10ms);
    CHECK(queue.remove(*second) == 2);
    CHECK_FALSE(queue.remove(*second).has_value());
    CHECK(pop(queue)->work == 1);
    CHECK_FALSE(queue.remove(*first).has_value());
    CHECK_FALSE(pop(queue).has_value());
  }
}

TEST_CASE("work that yields has its turn later, and expires by its deadline all the same") {
  WorkQueue<int> queue(limits(roomy, roomy));
  push(queue, 1, WorkKind::search, interactive, 10ms, 5ms);
  push(queue, 2, WorkKind::search, interactive, 14ms);
  CHECK(pop(queue, 9ms)->work == 2);
  const auto yielded = pop(queue, 12ms);
  CHECK(yielded->work == 1);
  CHECK(yielded->deadline == at(10ms));
  CHECK(yielded->expired);
}

TEST_CASE("how far a call yields: four times what its further parts take, at most half of the time that is left") {
  CHECK(yield(1, 2ms, 100ms) == 0ms);
  CHECK(yield(2, 2ms, 100ms) == 8ms);
  CHECK(yield(7, 2ms, 100ms) == 48ms);
  CHECK(yield(8, 2ms, 100ms) == 50ms);
  CHECK(yield(64, 2ms, 100ms) == 50ms);
  CHECK(yield(64, 2ms, 0ms) == 0ms);
  CHECK(yield(64, 2ms, -1ms) == 0ms);
  CHECK(yield(64, 0ms, 100ms) == 0ms);
  CHECK(yield(~std::size_t{0}, 1h, 24h) == 12h);  // no overflow
  CHECK(yield(65'536, Duration::max(), 24h) == 12h);
}

namespace {

// One worker, in virtual time: calls of so many parts of 1 ms each, all with 250 ms; when each call's last part ends.
struct Call {
  Duration arrives;
  std::size_t parts;
  Duration ends{};
};

std::vector<Call> served(std::vector<Call> calls, bool yielding) {
  WorkQueue<std::size_t> queue(limits(roomy, roomy));
  std::vector<std::size_t> left;
  for (const auto& call : calls) left.push_back(call.parts);
  std::size_t next = 0;
  for (Duration now{}; next < calls.size() || queue.ready(interactive);) {
    for (; next < calls.size() && calls[next].arrives <= now; ++next) {
      const Instant deadline = at(calls[next].arrives + 250ms);
      const Duration yields = yielding ? yield(calls[next].parts, 1ms, 250ms) : 0ms;
      for (std::size_t part = 0; part < calls[next].parts; ++part) {
        queue.push(next, {WorkKind::search, interactive, deadline, yields}, at(now));
      }
    }
    const auto popped = queue.pop(interactive, at(now));
    if (!popped) {
      now = calls[next].arrives;
      continue;
    }
    now += 1ms;
    queue.finish(popped->kind, popped->service_class);
    if (--left[popped->work] == 0) calls[popped->work].ends = now;
  }
  return calls;
}

}  // namespace

TEST_CASE("a call of many partitions does not block short ones that come after it, nor is it put off for ever") {
  // A call of 64 parts, and then one of 2 parts every 4 ms: the worker is half busy with them.
  std::vector<Call> calls{{0ms, 64}};
  for (int i = 1; i <= 100; ++i) calls.push_back({4ms * i, 2});
  const auto by_deadline = served(calls, false), yielding = served(calls, true);
  // By deadline alone the first short call waits for all that is left of the long one.
  CHECK(by_deadline[1].ends - by_deadline[1].arrives == 62ms);
  Duration slowest{};
  for (std::size_t i = 1; i < calls.size(); ++i) slowest = std::max(slowest, yielding[i].ends - yielding[i].arrives);
  CHECK(slowest <= 8ms);  // its own 2 parts, what was running, and at the end the long one's last
  // The long one has half of the worker while short ones come, which is twice its own time.
  CHECK(yielding[0].ends <= 130ms);

  // With short calls that fill the worker, the long call has its turn when theirs move past it: it ends within its time.
  std::vector<Call> full{{0ms, 64}};
  for (int i = 1; i <= 400; ++i) full.push_back({2ms * i, 2});
  CHECK(served(full, true)[0].ends <= 250ms);
}

TEST_CASE("calls of equal size keep the order of their deadlines: they end one after the other, not all at the end") {
  const auto calls = served({{0ms, 8}, {1ms, 8}, {2ms, 8}}, true);
  CHECK(calls[0].ends == 8ms);
  CHECK(calls[1].ends == 16ms);
  CHECK(calls[2].ends == 24ms);
}

TEST_CASE("batch work with workers of its own is theirs alone, and each class keeps within its limits") {
  WorkQueue<int> queue({.interactive = {{.waiting = 9, .running = 2}, roomy}, .batch = {{.waiting = 9, .running = 1}, roomy}});
  for (const int work : {1, 2, 3}) push(queue, work, WorkKind::search, interactive, 10ms);
  for (const int work : {11, 12}) push(queue, work, WorkKind::search, batch, 10ms);
  CHECK(queue.pop(batch, at(0ms))->work == 11);
  CHECK_FALSE(queue.ready(batch));
  CHECK_FALSE(queue.pop(batch, at(0ms)).has_value());  // though interactive work waits
  CHECK(queue.pop(interactive, at(0ms))->work == 1);
  CHECK(queue.pop(interactive, at(0ms))->work == 2);
  CHECK_FALSE(queue.ready(interactive));
  CHECK(queue.running(interactive, Lane::hits) == 2);
  CHECK(queue.running(batch, Lane::hits) == 1);
  queue.finish(WorkKind::search, batch);
  CHECK_FALSE(queue.ready(interactive));
  CHECK(queue.pop(batch, at(0ms))->work == 12);
}

TEST_CASE("batch with workers of its own gives way: beside interactive work it begins a piece every so often, alone as it likes") {
  WorkQueue<int> queue({.interactive = {roomy, roomy}, .batch = {roomy, roomy}, .batch_gives_way = 20ms});
  for (int work = 11; work < 19; ++work) push(queue, work, WorkKind::search, batch, 1h);
  CHECK(queue.ready_at(batch, at(0ms)) == at(0ms));
  CHECK(queue.pop(batch, at(0ms))->work == 11);
  CHECK(queue.pop(batch, at(1ms))->work == 12);
  push(queue, 1, WorkKind::search, interactive, 1h);
  CHECK(queue.ready(batch));
  CHECK(queue.ready_at(batch, at(2ms)) == at(21ms));
  CHECK_FALSE(queue.pop(batch, at(2ms)).has_value());
  CHECK(queue.ready_at(interactive, at(2ms)) == at(2ms));
  CHECK(queue.pop(interactive, at(2ms))->work == 1);
  CHECK_FALSE(queue.pop(batch, at(20ms)).has_value());  // it runs
  CHECK(queue.pop(batch, at(21ms))->work == 13);
  CHECK_FALSE(queue.pop(batch, at(22ms)).has_value());
  CHECK(queue.ready_at(batch, at(50ms)) == at(50ms));
  queue.finish(WorkKind::search, interactive);
  CHECK(queue.ready_at(batch, at(23ms)) == at(23ms));
  CHECK(queue.pop(batch, at(23ms))->work == 14);
  // What interactive work there is counts, of whatever kind.
  push(queue, 2, WorkKind::snippets, interactive, 1h);
  CHECK_FALSE(queue.pop(batch, at(24ms)).has_value());
}

TEST_CASE("where batch shares the workers, it has every so-many-th turn while it waits, and no more while interactive work waits") {
  auto shared = limits(roomy, roomy);
  shared.batch_turn = 5;
  WorkQueue<int> queue(shared);
  for (int i = 0; i < 40; ++i) push(queue, i, WorkKind::search, interactive, 1ms);
  for (int i = 100; i < 103; ++i) push(queue, i, WorkKind::search, batch, 1h);
  std::string order;
  while (auto popped = pop(queue)) order += popped->service_class == batch ? 'b' : '.';
  CHECK(order == "....b....b....b............................");

  // What ran before batch came is not to its credit.
  for (int i = 0; i < 10; ++i) push(queue, i, WorkKind::search, interactive, 1ms);
  for (int i = 0; i < 4; ++i) CHECK(pop(queue)->service_class == interactive);
  push(queue, 100, WorkKind::search, batch, 1ms);
  order.clear();
  while (auto popped = pop(queue)) order += popped->service_class == batch ? 'b' : '.';
  CHECK(order == "....b..");
  // Alone it does not wait for its turn.
  push(queue, 100, WorkKind::search, batch, 1ms);
  push(queue, 101, WorkKind::facets, batch, 1ms);
  CHECK(pop(queue)->work == 100);
  CHECK(pop(queue)->work == 101);
}

TEST_CASE("where batch shares the workers, what runs of it counts towards their number") {
  WorkQueue<int> queue(limits({.waiting = 9, .running = 1}, {.waiting = 9, .running = 1}));
  push(queue, 1, WorkKind::search, batch, 10ms);
  CHECK(pop(queue)->work == 1);
  push(queue, 2, WorkKind::search, interactive, 10ms);
  CHECK_FALSE(queue.ready(interactive));
  CHECK(queue.running(interactive, Lane::hits) == 1);
  CHECK(queue.running(interactive) == 0);
  CHECK(queue.running(batch) == 1);
  queue.finish(WorkKind::search, batch);
  CHECK(pop(queue)->work == 2);
}

TEST_CASE("each service class has room of its own in each lane") {
  WorkQueue<int> queue(limits({.waiting = 2, .running = 9}, {.waiting = 1, .running = 9}));
  for (const auto service_class : {batch, interactive}) {
    CHECK(push(queue, 1, WorkKind::search, service_class, 1ms).has_value());
    CHECK(push(queue, 2, WorkKind::fetch, service_class, 1ms).has_value());
    CHECK_FALSE(push(queue, 3, WorkKind::search, service_class, 1ms).has_value());
    CHECK(push(queue, 4, WorkKind::facets, service_class, 1ms).has_value());
    CHECK_FALSE(push(queue, 5, WorkKind::spelling, service_class, 1ms).has_value());
    CHECK(queue.waiting(service_class) == 3);
  }
}

}  // namespace hedgerow::leaf
