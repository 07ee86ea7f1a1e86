#include "leaf/worker_pool.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "base/random.hpp"
#include "base/steady_clock.hpp"

namespace hedgerow::leaf {

namespace {

using namespace std::chrono_literals;

// Work that counts its answers and says when it begins and ends.
class Probe final : public Work {
 public:
  explicit Probe(std::function<void(WorkerContext&)> body = {}) : body_(std::move(body)) {}

  Executed execute(WorkerContext& worker, Instant, Instant) override {
    begun_.set_value();
    if (body_) body_(worker);
    ++executed;
    ended_.set_value();
    return Executed::whole;
  }
  void expire(Instant, Instant, TimeLeft) override {
    ++expired;
    ended_.set_value();
  }
  // Fails the test rather than wait for ever.
  void wait_until_begun() { REQUIRE(begun_.get_future().wait_for(20s) == std::future_status::ready); }
  void wait_until_ended() { REQUIRE(ended_.get_future().wait_for(20s) == std::future_status::ready); }

  std::atomic<int> executed = 0, expired = 0;

 private:
  std::function<void(WorkerContext&)> body_;
  std::promise<void> begun_, ended_;
};

struct Pool : WorkerPool {
  explicit Pool(std::size_t workers, std::size_t capacity = 1000, std::size_t batch_workers = 0, Duration batch_gives_way = {})
      : WorkerPool({workers, capacity, batch_workers, batch_gives_way}, "/nonexistent", std::make_shared<const Manifest>()) {}

  std::optional<Place> submit(const std::shared_ptr<Probe>& probe, Duration in = 1h,
                              ServiceClass service_class = ServiceClass::interactive) {
    return WorkerPool::submit(probe, {WorkKind::search, service_class, clock_now() + in, {}}, clock_now());
  }
  std::optional<Place> submit(const std::shared_ptr<Probe>& probe, WorkKind kind) {
    return WorkerPool::submit(probe, {kind, ServiceClass::interactive, clock_now() + 1h, {}}, clock_now());
  }
};

}  // namespace

TEST_CASE("work is executed on a worker, work whose time is over is only answered") {
  Pool pool(2);
  const auto good = std::make_shared<Probe>(), late = std::make_shared<Probe>();
  pool.submit(good);
  pool.submit(late, -1ms);
  pool.start();
  good->wait_until_ended();
  late->wait_until_ended();
  CHECK(good->executed == 1);
  CHECK(good->expired == 0);
  CHECK(late->executed == 0);
  CHECK(late->expired == 1);
}

TEST_CASE("while paused nothing begins, what runs goes on, and the queue refuses beyond its capacity") {
  Pool pool(1, 2);
  pool.start();
  std::promise<void> go_on;
  const auto running = std::make_shared<Probe>([&](WorkerContext&) { go_on.get_future().wait(); });
  pool.submit(running);
  running->wait_until_begun();
  pool.pause(true);
  CHECK(pool.load().running == 1);

  const auto first = std::make_shared<Probe>(), second = std::make_shared<Probe>(), third = std::make_shared<Probe>();
  CHECK(pool.submit(first).has_value());
  CHECK(pool.submit(second).has_value());
  CHECK_FALSE(pool.submit(third).has_value());
  CHECK(pool.load().queued == 2);
  go_on.set_value();
  running->wait_until_ended();
  CHECK(first->executed == 0);

  pool.pause(false);
  first->wait_until_ended();
  second->wait_until_ended();
  CHECK(third->executed == 0);
}

TEST_CASE("interactive work goes before batch work, and earlier deadlines before later ones") {
  Pool pool(1);
  std::vector<int> order;
  std::vector<std::shared_ptr<Probe>> probes;
  const auto add = [&](int number, Duration in, ServiceClass service_class) {
    probes.push_back(std::make_shared<Probe>([&order, number](WorkerContext&) { order.push_back(number); }));
    pool.submit(probes.back(), in, service_class);
  };
  add(3, 1min, ServiceClass::batch);
  add(2, 3h, ServiceClass::interactive);
  add(1, 2h, ServiceClass::interactive);
  pool.start();
  for (const auto& probe : probes) probe->wait_until_ended();
  CHECK(order == std::vector{1, 2, 3});
}

TEST_CASE("removed work had not begun and never will, what has begun cannot be removed") {
  Pool pool(1);
  pool.pause(true);
  pool.start();
  const auto removed = std::make_shared<Probe>(), kept = std::make_shared<Probe>();
  const auto place = pool.submit(removed);
  const auto kept_place = pool.submit(kept);
  CHECK(pool.remove(*place));
  CHECK_FALSE(pool.remove(*place));
  pool.pause(false);
  kept->wait_until_ended();
  CHECK_FALSE(pool.remove(*kept_place));
  CHECK(removed->executed + removed->expired == 0);
}

TEST_CASE("a hold ends when its time is over") {
  Pool pool(1);
  pool.start();
  std::atomic<bool> held_long_enough = false;
  const auto probe = std::make_shared<Probe>([&](WorkerContext& worker) {
    const Instant begun = clock_now();
    worker.hold(30ms, [] { return true; });
    held_long_enough = clock_now() - begun >= 30ms;
  });
  pool.submit(probe);
  probe->wait_until_ended();
  CHECK(held_long_enough);
}

TEST_CASE("a hold that is no longer wanted ends when the pool is woken, and the worker does other work") {
  Pool pool(1);
  pool.start();
  std::atomic<bool> wanted = true;
  const auto held = std::make_shared<Probe>([&](WorkerContext& worker) { worker.hold(1h, [&] { return wanted.load(); }); });
  const auto behind = std::make_shared<Probe>();
  pool.submit(held);
  held->wait_until_begun();
  pool.submit(behind);  // a notice that the hold must not swallow
  pool.wake();          // still wanted: goes on
  CHECK(held->executed == 0);
  wanted = false;
  pool.wake();
  held->wait_until_ended();
  behind->wait_until_ended();
}

TEST_CASE("stopping ends a hold, lets what runs end, and drops what waits without an answer") {
  Pool pool(1);
  pool.start();
  const auto held = std::make_shared<Probe>([](WorkerContext& worker) { worker.hold(1h, [] { return true; }); });
  const auto waiting = std::make_shared<Probe>();
  pool.submit(held);
  held->wait_until_begun();
  pool.submit(waiting);
  pool.stop();
  CHECK(held->executed == 1);
  CHECK(waiting->executed + waiting->expired == 0);
  CHECK_FALSE(pool.submit(std::make_shared<Probe>()).has_value());
  pool.stop();  // twice is as good as once
}

TEST_CASE("side work never takes the last thread: searches go on beside it, with one worker too") {
  for (const std::size_t workers : {1U, 2U, 4U}) {
    CAPTURE(workers);
    Pool pool(workers);
    pool.start();
    std::atomic<bool> wanted = true;
    std::vector<std::shared_ptr<Probe>> side;
    for (int i = 0; i < 8; ++i) {
      side.push_back(std::make_shared<Probe>([&](WorkerContext& worker) { worker.hold(1h, [&] { return wanted.load(); }); }));
      pool.submit(side.back(), WorkKind::facets);
    }
    const std::size_t most = std::max<std::size_t>(workers, 2) - 1;
    for (std::size_t i = 0; i < most; ++i) side[i]->wait_until_begun();
    for (int i = 0; i < 10; ++i) {
      const auto search = std::make_shared<Probe>();
      pool.submit(search, i % 2 == 0 ? WorkKind::search : WorkKind::fetch);
      search->wait_until_ended();
    }
    CHECK(pool.load(Lane::side).running == most);
    CHECK(pool.load(Lane::side).queued == 8 - most);
    // What roots choose replicas by knows nothing of it. (A worker counts as running for a moment after its work ended.)
    while (pool.load().running != 0) std::this_thread::yield();
    CHECK(pool.load().queued == 0);
    wanted = false;
    pool.wake();
    for (const auto& probe : side) probe->wait_until_ended();
  }
}

TEST_CASE("one worker does one search at a time, though it has a second thread for side work") {
  Pool pool(1);
  pool.start();
  std::promise<void> go_on;
  const auto first = std::make_shared<Probe>([&](WorkerContext&) { go_on.get_future().wait(); });
  const auto second = std::make_shared<Probe>(), side = std::make_shared<Probe>();
  pool.submit(first);
  first->wait_until_begun();
  pool.submit(second);
  pool.submit(side, WorkKind::spelling);
  side->wait_until_ended();  // it overtakes the search that may not run yet
  CHECK(second->executed == 0);
  go_on.set_value();
  second->wait_until_ended();
}

TEST_CASE("batch work with workers of its own never waits for interactive work, and interactive work never for it") {
  for (const auto held_class : {ServiceClass::batch, ServiceClass::interactive}) {
    CAPTURE(to_string(held_class));
    const auto other = held_class == ServiceClass::batch ? ServiceClass::interactive : ServiceClass::batch;
    Pool pool(2, 1000, 2);
    pool.start();
    std::atomic<bool> wanted = true;
    std::vector<std::shared_ptr<Probe>> held;
    for (int i = 0; i < 8; ++i) {
      held.push_back(std::make_shared<Probe>([&](WorkerContext& worker) { worker.hold(1h, [&] { return wanted.load(); }); }));
      pool.submit(held.back(), 1h, held_class);
    }
    for (int i = 0; i < 2; ++i) held[static_cast<std::size_t>(i)]->wait_until_begun();
    for (int i = 0; i < 10; ++i) {
      const auto free = std::make_shared<Probe>();
      pool.submit(free, 1h, other);
      free->wait_until_ended();
    }
    CHECK(pool.load(held_class).running == 2);
    CHECK(pool.load(held_class).queued == 6);
    // Roots choose replicas by the interactive work alone.
    while (pool.load(other).running != 0) std::this_thread::yield();
    CHECK(pool.load().running == (held_class == ServiceClass::interactive ? 2 : 0));
    CHECK(pool.load().queued == (held_class == ServiceClass::interactive ? 6 : 0));
    wanted = false;
    pool.wake();
    for (const auto& probe : held) probe->wait_until_ended();
  }
}

TEST_CASE("batch workers give way to all others: they run at nice 19, and the interactive's threads do not") {
  Pool pool(1, 1000, 1);
  pool.start();
  const auto nice_of = [&](ServiceClass service_class) {
    std::atomic<int> nice = -100, policy = -1;
    const auto probe = std::make_shared<Probe>([&](WorkerContext&) {
      nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
      policy = ::sched_getscheduler(0);
    });
    pool.submit(probe, 1h, service_class);
    probe->wait_until_ended();
    return std::pair{nice.load(), policy.load()};
  };
  const int ours = ::getpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)));
  CHECK(nice_of(ServiceClass::batch) == std::pair{19, SCHED_BATCH});
  CHECK(nice_of(ServiceClass::interactive) == std::pair{ours, ::sched_getscheduler(0)});
}

TEST_CASE("batch cannot fill the interactive's room, nor be filled by it") {
  for (const std::size_t batch_workers : {0U, 1U}) {
    CAPTURE(batch_workers);
    Pool pool(1, 4, batch_workers);  // not started: what is submitted waits
    for (int i = 0; i < 4; ++i) CHECK(pool.submit(std::make_shared<Probe>(), 1h, ServiceClass::batch).has_value());
    CHECK_FALSE(pool.submit(std::make_shared<Probe>(), 1h, ServiceClass::batch).has_value());
    for (int i = 0; i < 4; ++i) CHECK(pool.submit(std::make_shared<Probe>(), 1h).has_value());
    CHECK_FALSE(pool.submit(std::make_shared<Probe>(), 1h).has_value());
  }
}

TEST_CASE("every piece of work is answered exactly once, by its worker or by who removed it") {
  constexpr int pieces = 20'000;
  struct Piece final : Work {
    std::atomic<int> answers = 0;
    std::atomic<int>* ended = nullptr;
    std::atomic<bool> stop = false;
    bool holds = false;
    Executed execute(WorkerContext& worker, Instant, Instant) override {
      if (holds) worker.hold(1h, [this] { return !stop.load(); });
      answer();
      return Executed::whole;
    }
    void expire(Instant, Instant, TimeLeft) override { answer(); }
    void answer() {
      ++answers;
      ++*ended;
      ended->notify_all();
    }
  };

  Random random(11);
  std::atomic<int> ended = 0;
  int expected = 0;
  std::vector<std::pair<std::shared_ptr<Piece>, WorkerPool::Place>> submitted;
  Pool pool(3, 64, 2);
  pool.start();
  const auto cancel = [&](std::size_t index) {
    auto& [piece, place] = submitted[index];
    if (piece->stop.exchange(true)) return;
    if (pool.remove(place)) {
      piece->answer();
    } else {
      pool.wake();
    }
  };
  for (int i = 0; i < pieces; ++i) {
    const auto piece = std::make_shared<Piece>();
    piece->ended = &ended;
    piece->holds = random.chance(0.02);
    const auto kind = work_kinds[random.below(work_kinds.size())];
    const auto service_class = random.chance(0.3) ? ServiceClass::batch : ServiceClass::interactive;
    const auto deadline = clock_now() + (random.chance(0.1) ? -1ms : 1h);
    const auto place = pool.WorkerPool::submit(piece, {kind, service_class, deadline, {}}, clock_now());
    if (place) {
      submitted.emplace_back(piece, *place);
      ++expected;
    }
    // Mostly what was submitted just now: in the queue, about to begin, or running.
    if (!submitted.empty() && random.chance(0.6)) {
      cancel(submitted.size() - 1 - random.below(std::min<std::size_t>(submitted.size(), 8)));
    }
    if (random.chance(0.01)) {
      pool.pause(true);
      pool.pause(false);
    }
  }
  for (std::size_t i = 0; i < submitted.size(); ++i) {
    if (submitted[i].first->holds) cancel(i);
  }
  for (int seen = ended; seen != expected; seen = ended) ended.wait(seen);
  pool.stop();
  CHECK(expected > 1000);
  int wrong = 0;
  for (const auto& [piece, place] : submitted) wrong += piece->answers == 1 ? 0 : 1;
  CHECK(wrong == 0);
  CHECK(ended == expected);
}

TEST_CASE("batch that gave way goes on when its time has come, and at once when no interactive work is left") {
  for (const Duration gives_way : {Duration(5ms), Duration(30s)}) {
    CAPTURE(format_duration(gives_way));
    Pool pool(1, 1000, 1, gives_way);
    std::atomic<bool> wanted = true;
    const auto held = std::make_shared<Probe>([&](WorkerContext& worker) { worker.hold(1h, [&] { return wanted.load(); }); });
    std::vector<std::shared_ptr<Probe>> pieces;
    for (int i = 0; i < 3; ++i) pieces.push_back(std::make_shared<Probe>());
    pool.submit(held);
    pool.start();
    held->wait_until_begun();
    const Instant begun = clock_now();
    for (const auto& piece : pieces) pool.submit(piece, 1h, ServiceClass::batch);
    pieces[0]->wait_until_ended();  // none has begun for long
    if (gives_way == 5ms) {
      pieces[1]->wait_until_ended();
      pieces[2]->wait_until_ended();
      CHECK(clock_now() - begun >= 10ms);
    } else {
      CHECK(pool.load(ServiceClass::batch).queued == 2);
    }
    wanted = false;
    pool.wake();
    held->wait_until_ended();
    if (gives_way != 5ms) {
      pieces[1]->wait_until_ended();
      pieces[2]->wait_until_ended();
      CHECK(clock_now() - begun < 15s);
    }
  }
}

namespace {

constexpr auto search = WorkKind::search;


bool may_work_here(const Pool& pool, std::size_t parts = 1, ServiceClass service_class = interactive) {
  return pool.may_work_here(search, service_class, parts, 100, clock_now());
}

std::optional<WorkerPool::Place> submit_for_here(Pool& pool, const std::shared_ptr<Probe>& probe) {
  return pool.WorkerPool::submit(probe, {search, interactive, clock_now() + 1h, {}}, clock_now(), WorkerPool::Tell::later);
}

// Until it is known that such work takes next to no time, however busy the machine is.
void learn(Pool& pool) {
  for (int i = 0; i < 10'000 && !may_work_here(pool); ++i) {
    submit_for_here(pool, std::make_shared<Probe>());
    pool.work_here(1);
  }
  REQUIRE(may_work_here(pool));
}

}  // namespace

TEST_CASE("what is done here is done by this thread, in turn, and what it leaves is the workers'") {
  Pool pool(2);
  std::vector<std::thread::id> by;
  std::vector<std::shared_ptr<Probe>> probes;
  for (int i = 0; i < 3; ++i) {
    probes.push_back(std::make_shared<Probe>([&by](WorkerContext&) { by.push_back(std::this_thread::get_id()); }));
    submit_for_here(pool, probes.back());
  }
  CHECK(pool.load().queued == 3);
  pool.work_here(2);  // no worker has started: none can be quicker
  CHECK(probes[0]->executed == 1);
  CHECK(probes[1]->executed == 1);
  CHECK(by == std::vector{std::this_thread::get_id(), std::this_thread::get_id()});
  pool.start();
  probes[2]->wait_until_ended();
  pool.stop();
  REQUIRE(by.size() == 3);
  CHECK(by[2] != std::this_thread::get_id());
  CHECK(pool.load().queued == 0);
  CHECK(pool.load().running == 0);
}

TEST_CASE("workers are called for what is left here, or for what nobody does here") {
  Pool pool(2);
  pool.start();
  for (int i = 0; i < 200; ++i) {
    const auto first = std::make_shared<Probe>(), second = std::make_shared<Probe>(), third = std::make_shared<Probe>();
    submit_for_here(pool, first);
    submit_for_here(pool, second);
    pool.work_here(1);
    first->wait_until_ended();
    second->wait_until_ended();
    submit_for_here(pool, third);
    pool.call_workers(ServiceClass::interactive, 1);
    third->wait_until_ended();
  }
}

TEST_CASE("light work is done here where nothing waits, a worker's place is free, and such work was seen to be short") {
  Pool pool(1);
  CHECK_FALSE(may_work_here(pool));  // nothing is known of its time
  learn(pool);
  CHECK_FALSE(may_work_here(pool, 1, batch));
  CHECK_FALSE(pool.may_work_here(search, interactive, 1, 1e9, clock_now()));

  const auto waiting = std::make_shared<Probe>();
  const auto place = submit_for_here(pool, waiting);
  CHECK_FALSE(may_work_here(pool));
  CHECK(pool.remove(*place));
  CHECK(may_work_here(pool));

  // Batch has no workers of its own here, and its turn could come before the call's.
  const auto of_batch = pool.submit(std::make_shared<Probe>(), 1h, batch);
  CHECK_FALSE(may_work_here(pool));
  CHECK(pool.remove(*of_batch));
  CHECK(may_work_here(pool));

  pool.pause(true);
  CHECK_FALSE(may_work_here(pool));
  submit_for_here(pool, waiting);
  pool.work_here(1);
  CHECK(waiting->executed == 0);
  pool.pause(false);
  pool.work_here(1);
  CHECK(waiting->executed == 1);

  pool.start();
  std::promise<void> go_on;
  const auto running = std::make_shared<Probe>([&](WorkerContext&) { go_on.get_future().wait(); });
  pool.submit(running);
  running->wait_until_begun();
  CHECK_FALSE(may_work_here(pool));
  go_on.set_value();
  running->wait_until_ended();
}

TEST_CASE("who wants workers only has them only") {
  struct Workers : WorkerPool {
    Workers() : WorkerPool({.light_work_here = false}, "/nonexistent", std::make_shared<const Manifest>()) {}
  } pool;
  for (int i = 0; i < 100; ++i) {
    pool.submit(std::make_shared<Probe>(), {search, interactive, clock_now() + 1h, {}}, clock_now(), WorkerPool::Tell::later);
    pool.work_here(1);
    CHECK_FALSE(pool.may_work_here(search, interactive, 1, 0, clock_now()));
  }
}

}  // namespace hedgerow::leaf
