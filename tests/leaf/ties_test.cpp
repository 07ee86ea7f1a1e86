// Tied pairs between two leaves, over real links on loopback: see leaf/tie_book.

#include <doctest/doctest.h>

#include "every_kind.hpp"
#include "running_leaf.hpp"

namespace hedgerow::leaf {

namespace {

std::string ties(const std::string& outcome) { return "hedgerow_leaf_ties_total{outcome=\"" + outcome + "\"}"; }
std::string searches(const std::string& outcome) {
  return "hedgerow_leaf_work_total{outcome=\"" + outcome + "\",work=\"search\"}";
}
const std::string links_out = "hedgerow_leaf_twin_links{direction=\"out\"}";
const std::string links_in = "hedgerow_leaf_twin_links{direction=\"in\"}";

Settings named(const char* name) {
  Settings settings;
  settings.name = name;
  settings.workers = 1;
  settings.allow_faults = true;
  settings.drain_time = 50ms;
  return settings;
}

wire::SearchCall tied(RootSide& root, std::uint64_t tie, const std::string& twin_address, std::uint32_t partition = 0) {
  auto call = root.call("garden", {partition});
  call.kind = AttemptKind::tied;
  call.ties = {{PartitionId{partition}, tie, twin_address}};
  return call;
}

// Two leaves, and a root that has a link to each.
struct Pair {
  RunningLeaf one{named("one")};
  RunningLeaf other{named("other"), one};
  std::shared_ptr<RootSide> to_one, to_other;

  asio::awaitable<void> connect() {
    to_one = co_await RootSide::connect(one);
    to_other = co_await RootSide::connect(other);
  }
  // Leaf one has begun tied work before, so its link to the other is up.
  asio::awaitable<void> meet() {
    to_one->send(tied(*to_one, 1, other.address()));
    CHECK(std::get<wire::TieStarted>(co_await to_one->next()).tie == 1);
    CHECK(outcome(co_await to_one->next()) == "answer");
    co_await one.until(links_out, 1);
    co_await other.until(links_in, 1);
  }
};

// Another leaf's side of a link.
asio::awaitable<std::shared_ptr<RootSide>> connect_as_twin(RunningLeaf& leaf, std::uint32_t version = wire::protocol_version) {
  const auto twin = co_await RootSide::connect(leaf, false);
  wire::Hello hello;
  hello.version = version;
  hello.name = "twin";
  hello.twin = true;
  twin->send(hello);
  co_return twin;
}

}  // namespace

TEST_CASE("whichever leaf begins tells the other, whose copy leaves the queue at once and was never executed") {
  Pair pair;
  pair.one.run([&]() -> asio::awaitable<void> {
    co_await pair.connect();
    co_await pair.meet();
    co_await pair.other.set_faults(pausing);
    const auto at_other = tied(*pair.to_other, 2, pair.one.address());
    pair.to_other->send(at_other);
    co_await pair.other.until(queued_attempts, 1);
    pair.to_one->send(tied(*pair.to_one, 2, pair.other.address()));
    CHECK(outcome(co_await pair.to_one->next()) == "answer");

    const auto message = co_await pair.to_other->next();
    const auto& failure = std::get<wire::PartitionFailure>(message);
    CHECK(failure.call == at_other.call);
    CHECK(failure.reason == wire::FailureReason::superseded);
    CHECK_FALSE(failure.started);
    CHECK(failure.load.queued == 0);
    co_await pair.other.set_faults("[]");
    CHECK(co_await pair.other.metric(executed(WorkKind::search)) == 0);
    CHECK(co_await pair.other.metric(ties("dropped")) == 1);
    CHECK(co_await pair.other.metric(ties("raced")) == 0);
    CHECK(co_await pair.other.metric(searches("superseded")) == 1);
    CHECK(co_await pair.one.metric(ties("told")) == 1);
    CHECK(co_await pair.one.metric(ties("relayed")) == 1);  // when they met
    CHECK(co_await pair.one.metric(ties("untold")) == 0);
  });
}

TEST_CASE("it is told when the work begins, and not when it ends") {
  Pair pair;
  pair.one.run([&]() -> asio::awaitable<void> {
    co_await pair.connect();
    co_await pair.meet();
    co_await pair.other.set_faults(pausing);
    pair.to_other->send(tied(*pair.to_other, 2, pair.one.address()));
    co_await pair.other.until(queued_attempts, 1);
    co_await pair.one.set_faults(holding_an_hour);
    const auto at_one = tied(*pair.to_one, 2, pair.other.address());
    pair.to_one->send(at_one);
    CHECK(outcome(co_await pair.to_other->next()) == "superseded");
    pair.to_one->send(wire::Cancel{at_one.call, {}});
    CHECK(outcome(co_await pair.to_one->next()) == "cancelled");
  });
}

TEST_CASE("while the link to the twin's leaf is not up the root is told, with call and partition, before the answer") {
  Pair pair;
  pair.one.run([&]() -> asio::awaitable<void> {
    co_await pair.connect();
    const auto call = tied(*pair.to_one, 9, pair.other.address(), 2);
    pair.to_one->send(call);
    const auto message = co_await pair.to_one->next();
    const auto& started = std::get<wire::TieStarted>(message);
    CHECK(started.tie == 9);
    CHECK(started.call == call.call);
    CHECK(started.partition == PartitionId{2});
    CHECK(outcome(co_await pair.to_one->next()) == "answer");
    CHECK(co_await pair.one.metric(ties("relayed")) == 1);
    CHECK(co_await pair.one.metric(ties("told")) == 0);
  });
}

TEST_CASE("when both have begun, both run to their end, and the race is counted") {
  Pair pair;
  pair.one.run([&]() -> asio::awaitable<void> {
    co_await pair.connect();
    co_await pair.meet();
    co_await pair.other.set_faults(R"([{"kind": "hold", "delay": "100ms"}])");
    pair.to_other->send(tied(*pair.to_other, 2, "nobody:1"));
    CHECK(std::get<wire::TieStarted>(co_await pair.to_other->next()).tie == 2);  // begun, and cannot tell its twin
    pair.to_one->send(tied(*pair.to_one, 2, pair.other.address()));
    CHECK(outcome(co_await pair.to_one->next()) == "answer");
    CHECK(outcome(co_await pair.to_other->next()) == "answer");
    co_await pair.other.until(ties("raced"), 1);
    CHECK(co_await pair.other.metric(ties("dropped")) == 0);
    CHECK(co_await pair.other.metric(executed(WorkKind::search)) == 1);
  });
}

TEST_CASE("a word that comes before the copy makes it go on arrival, and only that partition of its call") {
  RunningLeaf leaf(named("leaf"));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    const auto twin = co_await connect_as_twin(leaf);
    co_await leaf.until(links_in, 1);
    CHECK(co_await leaf.metric("hedgerow_leaf_links") == 1);
    twin->send(wire::TieStarted{77, {}, {}});
    // What comes on one link is read in order, what comes on two is not: until it is dropped, another copy is sent.
    auto call = root->call("garden", {0, 1, 2});
    for (bool dropped = false; !dropped;) {
      call = root->call("garden", {0, 1, 2});
      call.ties = {{PartitionId{1}, 77, "nobody:1"}, {PartitionId{2}, call.call.value + 1000, "nobody:1"}};
      root->send(call);
      std::vector<wire::Message> answers;
      while (answers.size() < 3) {
        auto message = co_await root->next();
        if (!std::holds_alternative<wire::TieStarted>(message)) answers.push_back(std::move(message));
      }
      int superseded = 0;
      for (const auto& answer : answers) {
        if (outcome(answer) != "superseded") continue;
        ++superseded;
        CHECK(std::get<wire::PartitionFailure>(answer).partition == PartitionId{1});
      }
      CHECK(superseded <= 1);
      dropped = superseded == 1;
    }
    CHECK(co_await leaf.metric(ties("dropped")) == 1);
  });
}

TEST_CASE("what was told just before a link broke goes to the root as well, while the work's call is open") {
  Pair pair;
  pair.one.run([&]() -> asio::awaitable<void> {
    co_await pair.connect();
    co_await pair.meet();
    co_await pair.one.set_faults(holding_an_hour);
    const auto call = tied(*pair.to_one, 5, pair.other.address(), 3);
    pair.to_one->send(call);
    co_await pair.one.until(ties("told"), 1);
    co_await pair.other.server->drain();
    pair.other.drained = true;
    const auto message = co_await pair.to_one->next();
    CHECK(std::get<wire::TieStarted>(message).tie == 5);
    CHECK(std::get<wire::TieStarted>(message).partition == PartitionId{3});
    CHECK(co_await pair.one.metric(ties("relayed")) == 2);
    CHECK(co_await pair.one.metric(ties("untold")) == 0);
    // The leaf that is gone rests for a moment, and the root goes on being told.
    pair.to_one->send(wire::Cancel{call.call, {}});
    CHECK(outcome(co_await pair.to_one->next()) == "cancelled");
    co_await pair.one.set_faults("[]");
    pair.to_one->send(tied(*pair.to_one, 6, pair.other.address()));
    CHECK(std::get<wire::TieStarted>(co_await pair.to_one->next()).tie == 6);
    CHECK(outcome(co_await pair.to_one->next()) == "answer");
    CHECK(co_await pair.one.metric(links_out) == 0);
  });
}

TEST_CASE("a copy that was cancelled, or whose root went away, is neither dropped nor raced, and leaves nothing behind") {
  Pair pair;
  pair.one.run([&]() -> asio::awaitable<void> {
    co_await pair.connect();
    co_await pair.meet();
    co_await pair.other.set_faults(pausing);
    const auto cancelled = tied(*pair.to_other, 2, pair.one.address());
    pair.to_other->send(cancelled);
    pair.to_other->send(wire::Cancel{cancelled.call, {}});
    CHECK(outcome(co_await pair.to_other->next()) == "cancelled");
    pair.to_other->send(tied(*pair.to_other, 3, pair.one.address()));
    co_await pair.other.until(queued_attempts, 1);
    pair.to_other->close();
    co_await pair.other.until(queued_attempts, 0);
    for (const std::uint64_t tie : {2U, 3U}) {
      pair.to_one->send(tied(*pair.to_one, tie, pair.other.address()));
      CHECK(outcome(co_await pair.to_one->next()) == "answer");
    }
    co_await pair.one.until(ties("told"), 2);
    CHECK(co_await pair.other.metric(ties("dropped")) == 0);
    CHECK(co_await pair.other.metric(ties("raced")) == 0);
  });
}

TEST_CASE("an address that leads nowhere costs a try in the background, and the root is told") {
  RunningLeaf leaf(named("leaf"));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    std::vector<std::string> addresses{"", ":", "nonsense", "nobody:", ":7", "127.0.0.1:1", "127.0.0.1:99999", "[::1", "\xff:1",
                                       std::string(512, 'a')};
    // More than are kept.
    for (int port = 2; port < 600; ++port) addresses.push_back("127.0.0.1:" + std::to_string(port) + "x");
    std::uint64_t tie = 100;
    for (const auto& address : addresses) {
      CAPTURE(address);
      root->send(tied(*root, ++tie, address));
      CHECK(std::get<wire::TieStarted>(co_await root->next()).tie == tie);
      CHECK(outcome(co_await root->next()) == "answer");
    }
    CHECK(co_await leaf.metric(ties("relayed")) == addresses.size());
    CHECK(co_await leaf.metric(links_out) == 0);
  });
}

TEST_CASE("a twin that names itself, and a leaf that is asked for both halves, do the work") {
  RunningLeaf leaf(named("leaf"));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const std::uint64_t tie : {1U, 2U, 3U}) {
      root->send(tied(*root, tie, leaf.address(), 0));
      root->send(tied(*root, tie, leaf.address(), 1));
      int answers = 0;
      while (answers < 2) {
        const auto message = co_await root->next();
        if (std::holds_alternative<wire::TieStarted>(message)) continue;
        CHECK(outcome(message) == "answer");
        ++answers;
      }
      co_await leaf.until(links_in, 1);
    }
  });
}

TEST_CASE("another leaf may say that tied work has begun, a root may not, and neither may say more") {
  RunningLeaf leaf(named("leaf"));
  leaf.run([&]() -> asio::awaitable<void> {
    double errors = 0;
    const auto refused = [&](std::shared_ptr<RootSide> side) -> asio::awaitable<void> {
      co_await side->wait_for_end();
      co_await leaf.until("hedgerow_leaf_protocol_errors_total", ++errors);
    };
    const auto root = co_await RootSide::connect(leaf);
    root->send(wire::TieStarted{1, {}, {}});
    co_await refused(root);
    const auto asks = co_await connect_as_twin(leaf);
    asks->send(asks->call("garden", {0}));
    co_await refused(asks);
    const auto cancels = co_await connect_as_twin(leaf);
    cancels->send(wire::Cancel{});
    co_await refused(cancels);
    co_await refused(co_await connect_as_twin(leaf, wire::protocol_version + 1));
    co_await leaf.until(links_in, 0);
    CHECK(co_await leaf.metric("hedgerow_leaf_links") == 0);
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
  });
}

TEST_CASE("whoever guesses ties makes no copy go, and fills nothing") {
  RunningLeaf leaf(named("leaf"));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    const auto twin = co_await connect_as_twin(leaf);
    co_await leaf.set_faults(pausing);
    root->send(tied(*root, 0x9e3779b97f4a7c15, "nobody:1"));
    co_await leaf.until(queued_attempts, 1);
    Random random(5);
    for (int i = 0; i < 20'000; ++i) twin->send(wire::TieStarted{random.next(), {}, {}});
    twin->send(wire::Cancel{});  // ends the link, behind all of them
    co_await twin->wait_for_end();
    CHECK(co_await leaf.metric(queued_attempts) == 1);
    co_await leaf.set_faults("[]");
    CHECK(std::get<wire::TieStarted>(co_await root->next()).tie == 0x9e3779b97f4a7c15);
    CHECK(outcome(co_await root->next()) == "answer");
    CHECK(co_await leaf.metric(ties("dropped")) == 0);
  });
}

}  // namespace hedgerow::leaf
