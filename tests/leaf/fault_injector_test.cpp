// What injected faults do to a leaf's calls, over a real link on loopback.

#include <doctest/doctest.h>

#include <algorithm>

#include "every_kind.hpp"
#include "processor_time.hpp"
#include "running_leaf.hpp"

namespace hedgerow::leaf {

namespace {

std::string faults_met(const std::string& kind) { return "hedgerow_leaf_faults_total{kind=\"" + kind + "\"}"; }
std::string fault_seconds(const std::string& kind) { return "hedgerow_leaf_fault_seconds_total{kind=\"" + kind + "\"}"; }
std::string searches_that_were(const std::string& outcome) { return total(WorkKind::search, outcome); }

std::string fault_told(const wire::Message& message) {
  return std::visit(
      [](const auto& m) -> std::string {
        if constexpr (requires { m.fault; }) return m.fault;
        return "(tells nothing)";
      },
      message);
}

const wire::PartitionAnswer& answer_in(const wire::Message& message) { return std::get<wire::PartitionAnswer>(message); }

}  // namespace

TEST_CASE("answers and failures of every kind of work tell what was injected") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    for (const auto kind : work_kinds) {
      CAPTURE(to_string(kind));
      for (const bool fails : {false, true}) {
        const std::string late = R"({"kind": "late", "delay": "1ms"})";
        const std::string faults = fails ? R"([{"kind": "error"}, )" + late + "]" : "[" + late + "]";
        co_await leaf.set_faults(faults);
        const auto asked = ask(*root, kind);
        root->send(asked.message);
        for (std::size_t i = 0; i < asked.answers; ++i) {
          const auto message = co_await root->next();
          CHECK(outcome(message) == (fails ? "failed" : "answer"));
          CHECK(fault_told(message) == (fails ? "error, late 1ms" : "late 1ms"));
        }
      }
    }
  });
}

TEST_CASE("an injected refusal is one, as by a full queue, and executes nothing") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "refused", "word": "editor"}])");
    root->send(root->call("editor", {0, 1}));
    for (const auto& message : co_await root->answers(2)) {
      CHECK(outcome(message) == "refused");
      CHECK(fault_told(message) == "refused");
    }
    CHECK(co_await leaf.metric(searches_that_were("refused")) == 2);
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 0);
    CHECK(co_await leaf.metric(faults_met("refused")) == 2);
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a black hole takes work and never answers it, a cancel or its deadline ends the call, and the link goes on") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "black_hole", "word": "editor"}, {"kind": "late", "delay": "600ms", "word": "rose"}])");
    const auto cancelled = root->call("editor", {0, 1});
    root->send(cancelled);
    root->send(wire::Cancel{cancelled.call, {PartitionId{0}}});
    root->send(wire::Cancel{cancelled.call, {}});
    auto expiring = root->call("editor", {2, 3});
    expiring.time.remaining = 200ms;
    root->send(expiring);
    // What comes is the answer to this, long after that deadline, and nothing before it.
    const auto other = root->call("rose", {0});
    root->send(other);
    const auto message = co_await root->next();
    CHECK(outcome(message) == "answer");
    CHECK(answer_in(message).call == other.call);
    CHECK(co_await leaf.metric(searches_that_were("swallowed")) == 4);
    CHECK(co_await leaf.metric(searches_that_were("expired")) == 0);
    CHECK(co_await leaf.metric(executed(WorkKind::search)) == 1);

    // Both calls are over: their ids are free, where the id of an open call would end the link.
    co_await leaf.set_faults("[]");
    auto again = expiring;
    again.time = cancelled.time;
    root->send(cancelled);
    root->send(again);
    CHECK(co_await outcomes(*root, 4) == all(4, "answer"));
  });
}

TEST_CASE("garbage in place of an answer ends the link as the root reads it, and the next link is served") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "garbage", "word": "editor"}])");
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
    root->send(root->call("editor", {0, 1}));
    co_await root->wait_for_end();
    co_await leaf.until("hedgerow_leaf_links", 0);
    CHECK(co_await leaf.metric(faults_met("garbage")) == 2);
    CHECK(co_await leaf.metric(searches_that_were("swallowed")) == 2);
    root = co_await RootSide::connect(leaf);
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("burning takes a worker and the processor for so long, ends with the cancel, and at the deadline") {
  RunningLeaf leaf(speller(1));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "burn", "delay": "30ms"}])");
    root->send(root->call("garden", {0}));
    const auto burnt = co_await root->next();
    CHECK(outcome(burnt) == "answer");
    CHECK(answer_in(burnt).service_time >= 30ms);
    CHECK(fault_told(burnt) == "burn 30ms");
    const double seconds_burnt = co_await leaf.metric(fault_seconds("burn"));
    CHECK(seconds_burnt >= 0.03);

    co_await leaf.set_faults(R"([{"kind": "burn", "delay": "1h"}])");
    auto expiring = root->call("garden", {1});
    expiring.time.remaining = 50ms;
    root->send(expiring);
    CHECK(outcome(co_await root->next()) == "expired");

    const auto cancelled = root->call("garden", {2});
    root->send(cancelled);
    co_await leaf.until("hedgerow_leaf_running_attempts", 1);
    root->send(wire::Cancel{cancelled.call, {}});
    CHECK(outcome(co_await root->next()) == "cancelled");
    co_await leaf.set_faults("[]");
    root->send(root->call("garden", {3}));
    CHECK(outcome(co_await root->next()) == "answer");
    // Counted is what was burnt, and not the hours that were meant to be.
    CHECK(co_await leaf.metric(fault_seconds("burn")) > seconds_burnt);
    CHECK(co_await leaf.metric(fault_seconds("burn")) < 60);
  });
}

TEST_CASE("delays are counted where they act, as long as they acted") {
  RunningLeaf leaf(speller(1));
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "20ms"}, {"kind": "late", "delay": "2ms"}])");
    root->send(root->call("garden", {0}));
    CHECK(outcome(co_await root->next()) == "answer");
    CHECK(co_await leaf.metric(fault_seconds("hold")) >= 0.02);
    CHECK(co_await leaf.metric(fault_seconds("late")) == doctest::Approx(0.002));
    CHECK(co_await leaf.metric(fault_seconds("burn")) == 0);

    // A hold that the deadline ends.
    co_await leaf.set_faults(R"([{"kind": "hold", "delay": "1h"}])");
    auto expiring = root->call("garden", {1});
    expiring.time.remaining = 50ms;
    root->send(expiring);
    CHECK(outcome(co_await root->next()) == "expired");
    const double held = co_await leaf.metric(fault_seconds("hold"));
    CHECK(held < 60);

    // What is over before it begins is neither held nor burnt; its failure may be late.
    co_await leaf.set_faults(R"([{"kind": "error"}, {"kind": "hold", "delay": "1s"}, {"kind": "burn", "delay": "1s"}, {"kind": "late", "delay": "2ms"}])");
    root->send(root->call("garden", {2}));
    CHECK(outcome(co_await root->next()) == "failed");
    CHECK(co_await leaf.metric(fault_seconds("hold")) == held);
    CHECK(co_await leaf.metric(fault_seconds("burn")) == 0);
    CHECK(co_await leaf.metric(fault_seconds("late")) == doctest::Approx(0.004));
    CHECK(co_await leaf.metric(faults_met("burn")) == 1);
  });
}

TEST_CASE("an answer that is held back when its link ends is dropped, and the leaf goes on") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "late", "delay": "1h"}])");
    root->send(root->call("garden", {0, 1}));
    co_await leaf.until(searches_that_were("answered"), 2);
    root->close();
    co_await leaf.until("hedgerow_leaf_links", 0);
    co_await leaf.set_faults("[]");
    const auto other = co_await RootSide::connect(leaf);
    other->send(other->call("garden", {0}));
    CHECK(outcome(co_await other->next()) == "answer");
  });
}

TEST_CASE("a fault of a partition meets its searches, and fetches of its documents, alone") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "error", "partitions": [1]}])");
    root->send(root->call("garden", {0, 1, 2}));
    const auto found = co_await root->answers(3);
    CHECK(outcome(found[0]) == "answer");
    CHECK(outcome(found[1]) == "failed");
    CHECK(outcome(found[2]) == "answer");
    const auto& documents = TinyIndex::get().documents();
    for (std::size_t i = 0; i < 20; ++i) {
      const auto address = TinyIndex::get().address(documents[i].id);
      CAPTURE(address.partition.value);
      const char* expected = address.partition == PartitionId{1} ? "failed" : "answer";
      root->send(root->fetch({address}));
      CHECK(outcome(co_await root->next()) == expected);
      root->send(root->snippets("garden", {address}));
      CHECK(outcome(co_await root->next()) == expected);
      root->send(root->lookup(documents[i].id));
      CHECK(outcome(co_await root->next()) == expected);
    }
    root->send(root->spell({"editr"}));
    CHECK(outcome(co_await root->next()) == "answer");
  });
}

TEST_CASE("a pause for a time ends by itself, and what waited for it says so, what came later does not") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "pause", "for": "1500ms"}, {"kind": "error", "after": "1h"}])");
    root->send(root->call("garden", {0, 1}));
    co_await leaf.until("hedgerow_leaf_queued_attempts", 2);
    for (const auto& message : co_await root->answers(2)) {
      CHECK(outcome(message) == "answer");
      CHECK(fault_told(message) == "pause");
      CHECK(answer_in(message).queue_time > 0ms);
    }
    CHECK(co_await leaf.metric(faults_met("pause")) == 1);
    CHECK(co_await leaf.metric(fault_seconds("pause")) == doctest::Approx(1.5).epsilon(0.001));
    root->send(root->call("garden", {0}));
    CHECK(fault_told(co_await root->next()) == "");
    const auto listed = nlohmann::json::parse((co_await leaf.http("GET", "/v1/faults")).body)["faults"];
    CHECK(listed[0]["state"] == "over");
    CHECK(listed[0]["applied"] == 1);
    CHECK(listed[1]["state"] == "waiting");
    CHECK(listed[1]["applied"] == 0);
  });
}

TEST_CASE("a pause that begins later begins by itself, and one that is cleared holds nothing up any more") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "pause", "after": "30ms"}])");
    co_await leaf.until(faults_met("pause"), 1);
    root->send(root->call("garden", {0}));
    co_await leaf.until("hedgerow_leaf_queued_attempts", 1);
    co_await leaf.set_faults("[]");
    CHECK(fault_told(co_await root->next()) == "pause");
    CHECK(co_await leaf.metric("hedgerow_leaf_faults_set") == 0);
  });
}

TEST_CASE("background work that takes the workers holds the leaf up again and again, and what met it says so") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    co_await leaf.set_faults(R"([{"kind": "background", "period": "60ms", "length": "50ms"}])");
    // One search after another until six have waited: each for another time of work, which holds up those that come then.
    int waited = 0;
    while (waited < 6) {
      root->send(root->call("garden", {0}));
      const auto message = co_await root->next();
      REQUIRE(outcome(message) == "answer");
      if (fault_told(message) == "background" && answer_in(message).queue_time >= 10ms) ++waited;
    }
    const double runs = co_await leaf.metric(faults_met("background")), seconds = co_await leaf.metric(fault_seconds("background"));
    CHECK(runs >= 6);
    // The first was cut by its being set, and the last may go on.
    CHECK(seconds > 4 * 0.01);
    CHECK(seconds <= runs * 0.05 + 1e-9);
    co_await leaf.set_faults("[]");
    root->send(root->call("garden", {0}));
    CHECK(fault_told(co_await root->next()) == "");
  });
}

TEST_CASE("background work that takes the processor lets work begin beside it, and ends when it is cleared") {
  RunningLeaf leaf(speller());
  leaf.run([&]() -> asio::awaitable<void> {
    const auto root = co_await RootSide::connect(leaf);
    // Of the two at least one goes on at any time.
    co_await leaf.set_faults(
        R"([{"kind": "background", "period": "1000s", "length": "999s", "takes": "processor", "threads": 2, "phase": "1s"},
            {"kind": "background", "period": "1000s", "length": "999s", "takes": "processor", "threads": 2, "phase": "500s"}])");
    const Duration begin = processor_time_of_others();
    root->send(root->call("garden", {0}));
    const auto message = co_await root->next();
    CHECK(outcome(message) == "answer");
    CHECK(fault_told(message) == "background");
    // The metrics page is only to let time go by: whoever answers it is this thread.
    while (processor_time_of_others() - begin < 50ms) co_await leaf.http("GET", "/metrics");
    co_await leaf.set_faults("[]");
    CHECK(others_are_silent());
    root->send(root->call("garden", {0}));
    CHECK(fault_told(co_await root->next()) == "");
  });
}

}  // namespace hedgerow::leaf
