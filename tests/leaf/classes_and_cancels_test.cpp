// What a leaf keeps apart (service classes) and what it counts (work that nobody wanted any more), over a real link.

#include <doctest/doctest.h>

#include "every_kind.hpp"

namespace hedgerow::leaf {

namespace {

const std::string running_batch = "hedgerow_leaf_running_batch_work";
const std::string queued_batch = "hedgerow_leaf_queued_batch_work";

std::string cancelled(AttemptKind kind, const std::string& when) {
  return "hedgerow_leaf_attempts_cancelled_total{kind=\"" + std::string(to_string(kind)) + "\",when=\"" + when + "\"}";
}

wire::SearchCall batch_call(RootSide& root, std::vector<std::uint32_t> partitions) {
  auto call = root.call("garden", std::move(partitions));
  call.service_class = ServiceClass::batch;
  return call;
}

constexpr AttemptKind every_attempt_kind[] = {AttemptKind::primary, AttemptKind::retry,  AttemptKind::hedge,
                                              AttemptKind::tied,    AttemptKind::canary, AttemptKind::probe};

}  // namespace

TEST_CASE("batch searches that hold all their workers delay no interactive search or fetch, and do not make the leaf look busy") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(holding_an_hour);
    root->send(batch_call(*root, {0, 1, 2, 3}));
    auto batch_fetch = root->fetch({{PartitionId{0}, DocumentNumber{1}}});
    batch_fetch.service_class = ServiceClass::batch;
    co_await leaf.until(running_batch, 2);
    root->send(batch_fetch);
    co_await leaf.until(queued_batch, 3);
    co_await leaf.set_faults("[]");
    for (int i = 0; i < 5; ++i) {
      root->send(root->call("garden", {0}));
      const auto message = co_await root->next();
      REQUIRE(outcome(message) == "answer");
      CHECK(std::get<wire::PartitionAnswer>(message).load.queued == 0);
      CHECK(std::get<wire::PartitionAnswer>(message).load.running == 0);
    }
    root->send(root->fetch({TinyIndex::get().address("doc-3")}));
    CHECK(outcome(co_await root->next()) == "answer");
    CHECK(co_await leaf.metric(running_batch) == 2);
    root->close();
  });
}

TEST_CASE("batch that has filled its room is refused, and interactive work beside it is taken (trap 11)") {
  RunningLeaf leaf(speller(2, 3));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(pausing);
    root->send(batch_call(*root, {0, 1, 2, 3}));
    const auto refused = co_await root->next();
    CHECK(outcome(refused) == "refused");
    CHECK(std::get<wire::PartitionFailure>(refused).partition == PartitionId{3});
    root->send(root->call("garden", {0, 1, 2}));
    co_await leaf.until(queued_attempts, 6);
    CHECK(co_await leaf.metric(queued_batch) == 3);
    co_await leaf.set_faults("[]");
    CHECK(co_await outcomes(*root, 6) == all(6, "answer"));
  });
}

TEST_CASE("without workers of its own batch is done by the interactive's, and still answered while these are busy") {
  auto settings = speller(1);
  settings.batch_workers = 0;
  RunningLeaf leaf(settings);
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(pausing);
    const auto batch = batch_call(*root, {0});
    root->send(batch);
    for (int i = 0; i < 15; ++i) root->send(root->call("garden", {0, 1, 2, 3}));
    co_await leaf.until(queued_attempts, 61);
    co_await leaf.set_faults("[]");
    for (int before = 0;; ++before) {
      const auto message = co_await root->next();
      REQUIRE(outcome(message) == "answer");
      if (std::get<wire::PartitionAnswer>(message).call != batch.call) continue;
      CHECK(before == 19);
      break;
    }
  });
}

TEST_CASE("what is cancelled is counted by the attempt's kind: before it started, while it ran, and when it was executed for "
          "nothing (trap 19)") {
  RunningLeaf leaf(speller(1));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const auto kind : every_attempt_kind) {
      CAPTURE(to_string(kind));
      auto call = root->call("garden", {0, 1});
      call.kind = kind;
      co_await leaf.set_faults(holding_an_hour);
      root->send(call);
      co_await leaf.until(running_attempts, 1);
      co_await leaf.until(queued_attempts, 1);
      root->send(wire::Cancel{call.call, {}});
      int started = 0;
      for (const auto& message : co_await root->answers(2)) {
        REQUIRE(outcome(message) == "cancelled");
        started += std::get<wire::PartitionFailure>(message).started ? 1 : 0;
      }
      CHECK(started == 1);
      CHECK(co_await leaf.metric(cancelled(kind, "queued")) == 1);
      CHECK(co_await leaf.metric(cancelled(kind, "running")) == 1);

      // Executed, and the answer still under way.
      co_await leaf.set_faults(R"([{"kind": "late", "delay": "100ms"}])");
      auto late = root->call("garden", {0, 1});
      late.kind = kind;
      const double before = co_await leaf.metric(executed(WorkKind::search));
      root->send(late);
      co_await leaf.until(executed(WorkKind::search), before + 2);
      co_await leaf.until(running_attempts, 0);
      root->send(wire::Cancel{late.call, {PartitionId{1}}});
      CHECK(co_await outcomes(*root, 2) == all(2, "answer"));
      CHECK(co_await leaf.metric(cancelled(kind, "executed")) == 1);

      // The cancel crosses the last answer; a second one says nothing new.
      co_await leaf.set_faults("[]");
      auto crossed = root->call("garden", {0, 1, 2});
      crossed.kind = kind;
      root->send(crossed);
      CHECK(co_await outcomes(*root, 3) == all(3, "answer"));
      root->send(wire::Cancel{crossed.call, {PartitionId{0}, PartitionId{2}}});
      root->send(wire::Cancel{crossed.call, {PartitionId{0}, PartitionId{2}}});
      co_await leaf.until(cancelled(kind, "executed"), 3);
      root->send(wire::Cancel{crossed.call, {}});
      co_await leaf.until(cancelled(kind, "executed"), 4);
    }
    for (const auto kind : every_attempt_kind) {
      CHECK(co_await leaf.metric(cancelled(kind, "queued")) == 1);
      CHECK(co_await leaf.metric(cancelled(kind, "running")) == 1);
      CHECK(co_await leaf.metric(cancelled(kind, "executed")) == 4);
    }
  });
}

TEST_CASE("a failure says whether its work had started: in the queue it had not, on a worker it had") {
  RunningLeaf leaf(speller(1));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(holding_an_hour);
    auto call = root->call("garden", {0, 1});
    call.time.remaining = 50ms;
    root->send(call);
    int started = 0;
    for (const auto& message : co_await root->answers(2)) {
      REQUIRE(outcome(message) == "expired");
      started += std::get<wire::PartitionFailure>(message).started ? 1 : 0;
    }
    CHECK(started == 1);
    co_await leaf.set_faults(R"([{"kind": "error"}])");
    root->send(root->call("garden", {0}));
    CHECK_FALSE(std::get<wire::PartitionFailure>(co_await root->next()).started);
  });
}

TEST_CASE("work that takes longer than its time never comes back as an answer in time (trap 2)") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "5ms"}])");
    for (int i = 0; i < 20; ++i) {
      auto call = root->call("garden", {0});
      call.time.remaining = 1ms;
      root->send(call);
      CHECK(outcome(co_await root->next()) == "expired");
    }
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
  });
}

TEST_CASE("a long call interleaves with a short one: the short one's answers come before the long one's last") {
  RunningLeaf leaf(speller(1));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(pausing);
    std::vector<std::uint32_t> many;
    for (int i = 0; i < 64; ++i) many.push_back(static_cast<std::uint32_t>(i % 4));
    const auto long_call = root->call("garden", many), short_call = root->call("garden", {0});
    root->send(long_call);
    root->send(short_call);
    co_await leaf.until(queued_attempts, 65);
    co_await leaf.set_faults("[]");
    CHECK(std::get<wire::PartitionAnswer>(co_await root->next()).call == short_call.call);
    CHECK(co_await outcomes(*root, 64) == all(64, "answer"));
  });
}

}  // namespace hedgerow::leaf
